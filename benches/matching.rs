//! Finding old text in a file of 1 MB: as it stands, nearly, and not at all.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use trefoil::workspace::edit::replace;

fn content() -> String {
    let line = |number: usize| format!("    let value_{number} = compute({number}, \"text\");\n");
    let mut content: String = (0..).map(line).take(23_000).collect();
    content.push_str("    fn the_place() {  \n        done();\n    }\n");
    content
}

fn find(c: &mut Criterion) {
    let content = content();
    let mut group = c.benchmark_group("edit of 1 MB");
    group.throughput(Throughput::Bytes(content.len() as u64));
    for (name, old) in [
        ("exact", "    fn the_place() {  \n        done();\n"),
        ("trailing space", "    fn the_place() {\n        done();\n"),
        ("indentation", "fn the_place() {\n    done();\n"),
        ("look-alikes", "compute(22999, “text”)"),
        ("missing", "fn another_place() {\n    done(1);\n"),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| replace(black_box(&content), black_box(old), "fn x() {\n", false));
        });
    }
}

criterion_group!(benches, find);
criterion_main!(benches);
