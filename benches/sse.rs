//! Server-sent events: bytes a second through the parser, in the pieces a socket gives.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use trefoil::provider::sse::Parser;

fn body() -> Vec<u8> {
    let event = r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"some forty bytes of a reply of the model"}]}}]}"#;
    format!("{event}\r\n\r\n").repeat(8_000).into_bytes()
}

fn parse(c: &mut Criterion) {
    let body = body();
    let mut group = c.benchmark_group("sse");
    group.throughput(Throughput::Bytes(body.len() as u64));
    for piece in [100, 16_384] {
        group.bench_function(format!("pieces of {piece} bytes"), |b| {
            b.iter(|| {
                let mut parser = Parser::default();
                let events = |piece| parser.feed(piece).expect("no event is too large").len();
                body.chunks(piece).map(events).sum::<usize>()
            });
        });
    }
}

criterion_group!(benches, parse);
criterion_main!(benches);
