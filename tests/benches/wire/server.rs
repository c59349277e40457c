//! A server that answers by what a request holds, and refuses one that lost a call or a result.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

/// The last text of every run.
pub(crate) const DONE: &str = "Done: every step was taken.";

pub(crate) struct Server(SocketAddr);

/// The model's name for so many rounds of so many calls.
pub(crate) fn model(rounds: usize, calls: usize) -> String {
    format!("loop-{rounds}-{calls}")
}

impl Server {
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                thread::spawn(move || serve(stream));
            }
        });
        Ok(Self(address))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.0)
    }
}

fn serve(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let (status, kind, answer) = match answer(&body) {
            Ok((kind, answer)) => ("200 OK", kind, answer),
            Err(why) => ("400 Bad Request", "text/plain", why),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        writer.write_all(&[head.as_bytes(), answer.as_bytes()].concat())?;
    }
}

fn answer(body: &[u8]) -> Result<(&'static str, String), String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let numbers: Vec<usize> = body["model"]
        .as_str()
        .into_iter()
        .flat_map(|model| model.split('-'))
        .filter_map(|part| part.parse().ok())
        .collect();
    let [rounds, calls] = *numbers else {
        return Err("which model?".to_owned());
    };
    let mut round = 0;
    let mut open: Vec<&Value> = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "assistant" {
            open = message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .collect();
            round += 1;
        } else if message["role"] == "tool" {
            if open.is_empty() || open[0]["id"] != message["tool_call_id"] {
                return Err(format!("a result without its call: {message}"));
            }
            let call = open.remove(0);
            let sum = sum(&call["function"]["arguments"]);
            if message["content"].as_str() != Some(&sum.to_string()) {
                return Err(format!("{message} is not {sum}"));
            }
        }
    }
    if !open.is_empty() {
        return Err("a call without its result".to_owned());
    }
    let calls = if round < rounds { calls } else { 0 };
    Ok(match body["stream"] == true {
        true => ("text/event-stream", streamed(round, calls)),
        false => ("application/json", plain(round, calls)),
    })
}

fn sum(arguments: &Value) -> i64 {
    let arguments = arguments.as_str().unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let addend = |name: &str| arguments[name].as_i64().unwrap_or_default();
    addend("a") + addend("b")
}

fn call(round: usize, number: usize) -> Value {
    let arguments = json!({"a": round, "b": number}).to_string();
    json!({
        "index": number,
        "id": format!("call_{round}_{number}"),
        "type": "function",
        "function": {"name": "add", "arguments": arguments},
    })
}

fn plain(round: usize, calls: usize) -> String {
    let message = match calls {
        0 => json!({"role": "assistant", "content": DONE}),
        calls => {
            let calls: Vec<Value> = (0..calls).map(|number| call(round, number)).collect();
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        }
    };
    let reason = if calls == 0 { "stop" } else { "tool_calls" };
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    })
    .to_string()
}

fn streamed(round: usize, calls: usize) -> String {
    let mut out = String::new();
    let mut say = |delta: Value, reason: Option<&str>| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        });
        out += &format!("data: {chunk}\n\n");
    };
    say(json!({"role": "assistant", "content": null}), None);
    for number in 0..calls {
        let mut first = call(round, number);
        let arguments = first["function"]["arguments"].take();
        first["function"]["arguments"] = "".into();
        say(json!({"tool_calls": [first]}), None);
        let arguments = arguments.as_str().unwrap_or_default();
        let (one, other) = arguments.split_at(arguments.len() / 2);
        for part in [one, other] {
            let part = json!({"index": number, "function": {"arguments": part}});
            say(json!({"tool_calls": [part]}), None);
        }
    }
    if calls == 0 {
        for word in DONE.split_inclusive(' ') {
            say(json!({"content": word}), None);
        }
    }
    let reason = if calls == 0 { "stop" } else { "tool_calls" };
    say(json!({}), Some(reason));
    out += "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\n";
    out + "data: [DONE]\n\n"
}
