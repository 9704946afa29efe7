//! Server-sent events from bytes, as servers of models really send them (WHATWG HTML § 9.2, loosened).
//!
//! A body that is plain JSON although events were asked for comes out as one event at its end.

/// Bytes that one event may have; more is no reply of a model.
pub const LIMIT: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Empty where the server gave none.
    pub name: String,
    /// The data lines, joined by newlines.
    pub data: String,
}

impl Event {
    /// Returns whether the event only keeps the connection open.
    pub fn is_keepalive(&self) -> bool {
        matches!(self.name.as_str(), "ping" | "keepalive")
    }

    /// Returns whether the event says that nothing follows.
    pub fn is_end(&self) -> bool {
        self.data.starts_with("[DONE]")
    }
}

/// An event is larger than [`LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than 16 MB")]
pub struct TooLarge;

/// Reads events from pieces of any size, in time linear in their bytes.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last piece ended in `\r`: a `\n` at the start of the next belongs to it.
    after_return: bool,
    /// The first line, which may start with a byte order mark, is over.
    begun: bool,
    /// The lines are plain JSON.
    raw: bool,
}

impl Parser {
    /// Takes a piece of the body and returns the events that it completes.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        if std::mem::take(&mut self.after_return) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&bytes[..end]);
            self.end_line(&mut events)?;
            let returned = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.after_return = returned && bytes.is_empty();
            if returned {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.line.extend_from_slice(bytes);
        self.check_size()?;
        Ok(events)
    }

    /// Returns the events that the end of the body completes.
    pub fn finish(&mut self) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        self.end_line(&mut events)?;
        self.dispatch(&mut events);
        Ok(events)
    }

    fn check_size(&self) -> Result<(), TooLarge> {
        let size = self.line.len() + self.event.data.len();
        if size > LIMIT { Err(TooLarge) } else { Ok(()) }
    }

    fn end_line(&mut self, events: &mut Vec<Event>) -> Result<(), TooLarge> {
        self.check_size()?;
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let line = if self.begun { &*line } else { line.trim_start_matches('\u{feff}') };
        self.begun = true;
        self.take_line(line, events);
        Ok(())
    }

    fn take_line(&mut self, line: &str, events: &mut Vec<Event>) {
        if self.raw && line.starts_with("data:") {
            self.dispatch(events);
        }
        let starts_json = !self.has_data && line.trim_start().starts_with(['{', '[']);
        if self.raw || starts_json {
            self.raw = true;
            return self.append(line);
        }
        if line.is_empty() {
            return self.dispatch(events);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.append(value),
            "event" => value.clone_into(&mut self.event.name),
            // A comment has an empty field; `id` and `retry` are for readers that reconnect.
            _ => {}
        }
    }

    fn append(&mut self, data: &str) {
        if self.has_data {
            self.event.data.push('\n');
        }
        self.event.data.push_str(data);
        self.has_data = true;
    }

    fn dispatch(&mut self, events: &mut Vec<Event>) {
        let event = std::mem::take(&mut self.event);
        self.raw = false;
        if std::mem::take(&mut self.has_data) {
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(parser.feed(piece).unwrap());
        }
        events.extend(parser.finish().unwrap());
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    /// Bodies, and the data of the events in them.
    const TABLE: &[(&str, &[&str])] = &[
        ("", &[]),
        ("\n\n\n", &[]),
        ("data: a\n\n", &["a"]),
        ("data:a\n\ndata:  b\n\n", &["a", " b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
        ("data: a\r\rdata: b\r\r", &["a", "b"]),
        ("data: a\r\n\rdata: b\n\r\n", &["a", "b"]),
        ("\u{feff}data: a\n\n", &["a"]),
        ("data: a\ndata: b\ndata\n\n", &["a\nb\n"]),
        (": hello\n\ndata: a\n: still there\ndata: b\n\n", &["a\nb"]),
        ("id: 7\nretry: 10\ndata: a\nunknown: x\n\n", &["a"]),
        ("data: a\n\ndata: b", &["a", "b"]),
        ("data: a\n\ndata: b\r", &["a", "b"]),
        (
            "data: {\"t\":\"a\u{2028}b\u{2029}c\u{85}d\"}\n\n",
            &["{\"t\":\"a\u{2028}b\u{2029}c\u{85}d\"}"],
        ),
        ("data: 北京 — 😀\n\n", &["北京 — 😀"]),
        ("data: {}{}\n\n", &["{}{}"]),
        ("data: [DONE]\n\n", &["[DONE]"]),
        ("\n\n[{\n  \"a\": 1\n}\n,\n{}]\n", &["[{\n  \"a\": 1\n}\n,\n{}]\n"]),
        ("data: a\n\n{\n\n\"error\": 1}", &["a", "{\n\n\"error\": 1}"]),
        ("{\"a\": 1}\ndata: b\n\n", &["{\"a\": 1}", "b"]),
        ("data: {\ndata: }\n\n", &["{\n}"]),
    ];

    #[test]
    fn every_body_reads_the_same_however_it_is_cut() {
        for (body, wanted) in TABLE {
            let wanted: Vec<_> =
                wanted.iter().map(|data| (String::new(), (*data).to_owned())).collect();
            let bytes = body.as_bytes();
            assert_eq!(read(&[bytes]), wanted, "{body:?} in one piece");
            for at in 0..=bytes.len() {
                let (left, right) = bytes.split_at(at);
                assert_eq!(read(&[left, right]), wanted, "{body:?} cut at {at}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(read(&single), wanted, "{body:?} byte by byte");
        }
    }

    #[test]
    fn names_belong_to_their_event() {
        let body = "event: ping\ndata: {}\n\nevent: lost\n\ndata: [DONE] \n\n";
        let mut parser = Parser::default();
        let events = parser.feed(body.as_bytes()).unwrap();
        assert_eq!(events.len(), 2);
        assert!(events[0].is_keepalive() && !events[0].is_end());
        assert!(events[1].is_end() && !events[1].is_keepalive());
    }

    #[test]
    fn bytes_that_are_no_text_do_not_end_the_stream() {
        assert_eq!(read(&[b"data: a\xffb\n\n"]), [(String::new(), "a\u{fffd}b".to_owned())]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; LIMIT / 2];
        assert!(parser.feed(b"data: ").is_ok() && parser.feed(&piece).is_ok());
        assert_eq!(parser.feed(&piece), Err(TooLarge));
    }
}
