//! A reply that streams in, laid out anew at every piece: ten times the text must cost ten times the time.

mod scene;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn stream(c: &mut Criterion) {
    let mut group = c.benchmark_group("transcript");
    group.sample_size(10);
    for (name, bytes) in [("200 KB", 200_000), ("2 MB", 2_000_000)] {
        let deltas = scene::deltas(bytes);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("{name} of markdown"), |b| {
            b.iter_batched(
                || (scene::app(), deltas.clone()),
                |(mut app, deltas)| {
                    deltas.into_iter().for_each(|delta| scene::tell(&mut app, delta));
                    app
                },
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group!(benches, stream);
criterion_main!(benches);
