//! A server that answers as Gemini does, refuses what Gemini refuses, and keeps what it was sent.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// The only key that the server takes.
pub const KEY: &str = "AIza-the-key-of-the-test";

/// What the server says to one request.
#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Bytes of one write.
    piece: usize,
    end: Ending,
}

/// What follows the last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The connection is closed as it should be.
    Close,
    /// The connection is closed, though more was promised.
    Break,
    /// Nothing, until the client leaves.
    Silence,
    /// Comments, until the client leaves.
    Murmur,
}

impl Answer {
    /// A stream of events.
    pub fn stream(chunks: &[Value]) -> Self {
        let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        Self::raw(200, "text/event-stream", body)
    }

    /// A whole reply: its parts in one chunk, then the end.
    pub fn reply(parts: Value) -> Self {
        Self::stream(&[chunk(parts), finish("STOP")])
    }

    pub fn raw(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", kind.to_owned())];
        Self { status, headers, body: body.into(), piece: usize::MAX, end: Ending::Close }
    }

    pub fn error(status: u16, name: &str, message: &str) -> Self {
        let error = json!({ "code": status, "message": message, "status": name });
        Self::raw(status, "application/json", json!({ "error": error }).to_string())
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The lines end as HTTP's do.
    pub fn crlf(mut self) -> Self {
        let text = String::from_utf8(self.body).unwrap();
        self.body = text.replace('\n', "\r\n").into_bytes();
        self
    }

    /// Each write has so many bytes.
    pub fn in_pieces(self, piece: usize) -> Self {
        Self { piece, ..self }
    }

    /// The connection breaks after the last byte.
    pub fn broken(self) -> Self {
        Self { end: Ending::Break, ..self }
    }

    /// Nothing follows the last byte, and the connection stays.
    pub fn silent(self) -> Self {
        Self { end: Ending::Silence, ..self }
    }

    /// Only comments follow the last byte, and the connection stays.
    pub fn murmuring(self) -> Self {
        Self { end: Ending::Murmur, ..self }
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} Status\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.end == Ending::Break {
            head.push_str(&format!("content-length: {}\r\n", self.body.len() + 100));
        }
        head + "\r\n"
    }
}

/// A chunk with parts of a reply.
pub fn chunk(parts: Value) -> Value {
    json!({ "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts } }] })
}

/// A last chunk.
pub fn finish(reason: &str) -> Value {
    json!({
        "candidates": [{ "index": 0, "finishReason": reason }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
    })
}

/// A running server. It plays its answers in order, one to each request that is well formed.
pub struct Server {
    pub address: String,
    desk: Arc<Mutex<Desk>>,
    left: mpsc::UnboundedReceiver<()>,
}

#[derive(Default)]
struct Desk {
    answers: std::collections::VecDeque<Answer>,
    requests: Vec<Value>,
    issued: Issued,
}

/// What the server gave out: only this may come back.
#[derive(Default)]
struct Issued {
    ids: HashSet<String>,
    signatures: HashSet<String>,
}

impl Server {
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answers = answers.into_iter().collect();
        let desk = Arc::new(Mutex::new(Desk { answers, ..Desk::default() }));
        let (leave, left) = mpsc::unbounded_channel();
        tokio::spawn(serve(listener, Arc::clone(&desk), leave));
        Self { address, desk, left }
    }

    /// Returns the bodies of all requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.desk.lock().unwrap().requests.clone()
    }

    /// Waits until a client has closed a connection on which the server was silent.
    pub async fn is_left(&mut self) {
        self.left.recv().await.unwrap();
    }
}

async fn serve(listener: TcpListener, desk: Arc<Mutex<Desk>>, leave: mpsc::UnboundedSender<()>) {
    while let Ok((socket, _)) = listener.accept().await {
        let (desk, leave) = (Arc::clone(&desk), leave.clone());
        tokio::spawn(async move {
            // A client that leaves early is what some tests are about.
            let _ = converse(socket, &desk, &leave).await;
        });
    }
}

async fn converse(
    mut socket: TcpStream,
    desk: &Mutex<Desk>,
    leave: &mpsc::UnboundedSender<()>,
) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let (head, body) = receive(&mut socket).await?;
    let answer = desk.lock().unwrap().answer(&head, &body);
    socket.write_all(answer.head().as_bytes()).await?;
    for piece in answer.body.chunks(answer.piece) {
        socket.write_all(piece).await?;
        tokio::task::yield_now().await;
    }
    match answer.end {
        Ending::Close | Ending::Break => return Ok(()),
        Ending::Silence => drop(socket.read(&mut [0; 1]).await),
        Ending::Murmur => while socket.write_all(b": keep-alive\n\n").await.is_ok() {},
    }
    // Whoever waits for this may have gone as well.
    let _ = leave.send(());
    Ok(())
}

async fn receive(socket: &mut TcpStream) -> std::io::Result<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if socket.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
        });
        if body.len() >= length.unwrap_or(0) {
            return Ok((head.to_owned(), body.to_owned()));
        }
    }
}

impl Desk {
    fn answer(&mut self, head: &str, body: &str) -> Answer {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        self.requests.push(body.clone());
        if let Err(refusal) = check(head, &body, &self.issued) {
            return refusal;
        }
        let answer = self.answers.pop_front();
        let answer =
            answer.unwrap_or_else(|| invalid("The test has no answer left for this request."));
        self.issued.take(&answer.body);
        answer
    }
}

impl Issued {
    fn take(&mut self, body: &[u8]) {
        for line in String::from_utf8_lossy(body).lines() {
            let data = line.trim().strip_prefix("data: ").unwrap_or_default();
            let Ok(chunk) = serde_json::from_str::<Value>(data) else { continue };
            for part in parts(&chunk["candidates"][0]["content"]) {
                let keep = |text: &Value| text.as_str().map(str::to_owned);
                self.signatures.extend(keep(&part["thoughtSignature"]));
                self.ids.extend(keep(&part["functionCall"]["id"]));
            }
        }
    }
}

fn invalid(message: &str) -> Answer {
    Answer::error(400, "INVALID_ARGUMENT", message)
}

fn parts(content: &Value) -> &[Value] {
    content["parts"].as_array().map_or(&[], Vec::as_slice)
}

fn check(head: &str, body: &Value, issued: &Issued) -> Result<(), Answer> {
    check_head(head)?;
    check_tools(body)?;
    let contents = body["contents"].as_array().map_or(&[][..], Vec::as_slice);
    check_roles(contents)?;
    check_pairs(contents)?;
    check_issued(contents, issued)?;
    check_signatures(contents, issued)?;
    let thinking = &body["generationConfig"]["thinkingConfig"];
    if !thinking["thinkingBudget"].is_null() {
        let message =
            "Thinking budget is not supported for this model. Use thinking level instead.";
        return Err(invalid(message));
    }
    Ok(())
}

fn check_head(head: &str) -> Result<(), Answer> {
    let line = head.lines().next().unwrap_or_default();
    let path = line.split(' ').nth(1).unwrap_or_default();
    let wanted = "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse";
    if !line.starts_with("POST ") || path != wanted {
        let message = format!("{path} is not found for API version v1beta.");
        return Err(Answer::error(404, "NOT_FOUND", &message));
    }
    let key = head.lines().find_map(|line| line.strip_prefix("x-goog-api-key: "));
    if key != Some(KEY) {
        let detail = json!([{ "reason": "API_KEY_INVALID" }]);
        let message = format!("API key not valid ({}). Please pass one.", key.unwrap_or("none"));
        let error = json!({ "code": 400, "status": "INVALID_ARGUMENT", "message": message,
            "details": detail });
        return Err(Answer::raw(400, "application/json", json!({ "error": error }).to_string()));
    }
    Ok(())
}

fn check_tools(body: &Value) -> Result<(), Answer> {
    let declarations = body["tools"][0]["functionDeclarations"].as_array();
    for declaration in declarations.into_iter().flatten() {
        let schema = declaration["parametersJsonSchema"].to_string();
        for keyword in ["$schema", "$ref", "const", "examples"] {
            if schema.contains(&format!("\"{keyword}\":")) {
                let message = format!(
                    "Invalid JSON payload received. Unknown name \"{keyword}\" at \
                     'tools[0].function_declarations[0].parameters': Cannot find field."
                );
                return Err(invalid(&message));
            }
        }
        if declaration["name"].as_str().is_none_or(str::is_empty) {
            return Err(invalid("Invalid function name."));
        }
    }
    Ok(())
}

fn check_roles(contents: &[Value]) -> Result<(), Answer> {
    for (index, content) in contents.iter().enumerate() {
        let wanted = if index % 2 == 0 { "user" } else { "model" };
        if content["role"] != wanted {
            return Err(invalid("Please use a valid role: user, model."));
        }
        let is_empty = |part: &Value| part["text"] == "" && part["thoughtSignature"].is_null();
        if parts(content).is_empty() || parts(content).iter().any(is_empty) {
            let message =
                "Unable to submit request because it must have a non-empty text parameter.";
            return Err(invalid(message));
        }
    }
    if contents.last().is_none_or(|content| content["role"] != "user") {
        return Err(invalid("Please ensure that the last turn is a user turn."));
    }
    Ok(())
}

fn check_pairs(contents: &[Value]) -> Result<(), Answer> {
    let named = |content: &Value, kind: &str| -> Vec<(Value, Value)> {
        let pieces = parts(content).iter().filter_map(|part| part.get(kind));
        pieces.map(|piece| (piece["name"].clone(), piece["id"].clone())).collect()
    };
    for (index, content) in contents.iter().enumerate() {
        let answers = named(content, "functionResponse");
        let calls = index.checked_sub(1).map(|before| named(&contents[before], "functionCall"));
        let comes_first = parts(content)[..answers.len()]
            .iter()
            .all(|part| part["functionResponse"]["response"].is_object());
        if calls.unwrap_or_default() != answers || !comes_first {
            return Err(invalid(
                "Please ensure that the number of function response parts is equal to the number \
                 of function call parts of the function call turn.",
            ));
        }
    }
    Ok(())
}

fn check_issued(contents: &[Value], issued: &Issued) -> Result<(), Answer> {
    for part in contents.iter().flat_map(parts) {
        let call = &part["functionCall"];
        if call["id"].as_str().is_some_and(|id| !issued.ids.contains(id)) {
            return Err(invalid("Invalid JSON payload received. Unknown name \"id\"."));
        }
        if call.is_object() && call["name"].as_str().is_none_or(str::is_empty) {
            return Err(invalid("Function call name must not be empty."));
        }
    }
    Ok(())
}

/// Each step of the current turn must have its first call signed, by this server or by the placeholder.
fn check_signatures(contents: &[Value], issued: &Issued) -> Result<(), Answer> {
    let is_spoken = |content: &Value| {
        content["role"] == "user" && parts(content).iter().all(|part| part["text"].is_string())
    };
    let turn = contents.iter().rposition(is_spoken).unwrap_or(0);
    for content in &contents[turn..] {
        let call = parts(content).iter().find(|part| part["functionCall"].is_object());
        match call.map(|part| part["thoughtSignature"].as_str()) {
            None => {}
            Some(None) => {
                return Err(invalid(
                    "Function call is missing a thought_signature in functionCall parts.",
                ));
            }
            Some(Some("skip_thought_signature_validator")) => {}
            Some(Some(signature)) if issued.signatures.contains(signature) => {}
            Some(Some(_)) => return Err(invalid("Corrupted thought signature.")),
        }
    }
    Ok(())
}
