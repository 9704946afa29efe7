//! One frame from a prepared state, and what stands before it when a large change is reviewed.

mod scene;

use std::hint::black_box;
use std::time::Instant;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use crossterm::event::{KeyCode, KeyEvent};
use trefoil::agent::{AgentEvent, Approval, Live, Waiting};
use trefoil::session::{CallId, Proposal};
use trefoil::tui::app::App;
use trefoil::tui::event::Event;
use trefoil::workspace::FileDiff;

const LINES: usize = 10_000;

/// Two files of which every other line differs.
fn files() -> (String, String) {
    let line = |number: usize, word: &str| format!("    let value_{number} = {word}({number});\n");
    let word = |number: usize| if number.is_multiple_of(2) { "compute" } else { "measure" };
    let before = (0..LINES).map(|number| line(number, "compute")).collect();
    let after = (0..LINES).map(|number| line(number, word(number))).collect();
    (before, after)
}

fn between((before, after): &(String, String)) -> FileDiff {
    FileDiff::between("src/lib.rs", Some(before.as_bytes()), Some(after.as_bytes()))
}

fn asked(files: Vec<FileDiff>) -> AgentEvent {
    AgentEvent::Live(Live::Approval(Approval {
        call: CallId("c1".into()),
        calls: vec![Waiting {
            call: CallId("c1".into()),
            tool: "write_file".into(),
            proposal: Proposal::Change { files },
        }],
        reason: "No rule matches.".into(),
        rule: None,
    }))
}

fn review(diff: &FileDiff) -> App {
    let mut app = scene::app();
    scene::tell(&mut app, AgentEvent::Live(Live::Asking { request: 1 }));
    scene::tell(&mut app, asked(vec![diff.clone()]));
    app
}

/// Goes down a page of the diff; the first only takes the reader from the top to the bottom of the screen.
fn page_down(app: &mut App) {
    let now = Instant::now() + std::time::Duration::from_secs(1);
    app.update(Event::Key(KeyEvent::from(KeyCode::PageDown)), now);
    app.prepare(scene::WIDTH, scene::HEIGHT, now);
}

fn draw(c: &mut Criterion) {
    let mut group = c.benchmark_group("draw");
    let mut idle = scene::app();
    idle.prepare(scene::WIDTH, scene::HEIGHT, Instant::now());
    let mut long = scene::app();
    scene::deltas(200_000).into_iter().for_each(|delta| scene::tell(&mut long, delta));
    let review = review(&between(&files()));
    for (name, app) in [("idle", idle), ("long transcript", long), ("review", review)] {
        let mut terminal = scene::terminal();
        group.bench_function(name, |b| b.iter(|| scene::show(&mut terminal, &app)));
    }
}

fn diff(c: &mut Criterion) {
    let files = files();
    let diff = between(&files);
    let mut group = c.benchmark_group("diff of 10,000 lines");
    group.sample_size(20);
    group.bench_function("compare", |b| b.iter(|| between(black_box(&files))));
    group.bench_function("open", |b| b.iter_with_large_drop(|| review(&diff)));
    group.bench_function("page", |b| {
        let read = || {
            let mut app = review(&diff);
            page_down(&mut app);
            app
        };
        b.iter_batched_ref(read, page_down, BatchSize::PerIteration);
    });
}

criterion_group!(benches, draw, diff);
criterion_main!(benches);
