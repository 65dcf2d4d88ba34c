//! A visitors endpoint that is never the limit: pages made beforehand, one thread a connection, the standard library alone.
//!
//! `bench-server ROWS LATENCY_MS` listens on a free loopback port, prints it, and serves until its standard input ends.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Requests answered, and requests that started after the last row.
static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BEYOND: AtomicU64 = AtomicU64::new(0);

struct Site {
    rows: Vec<String>,
    /// Whole answers by (offset, limit), for the limit that everybody uses.
    pages: HashMap<(usize, usize), Vec<u8>>,
    latency: Duration,
}

const LIMIT: usize = 250;

impl Site {
    fn new(count: usize, latency: Duration) -> Self {
        let rows: Vec<String> = (0..count)
            .map(|i| {
                let (human, ai) = (1_000_000 / (i + 1) + i % 97, 400_000 / (i + 1) + i % 31);
                let total = human + ai - ai / 20;
                format!(
                    r#"{{"path":"/docs/section-{}/page-{i:07}","human":{human},"ai":{ai},"total":{total}}}"#,
                    i % 40
                )
            })
            .collect();
        let mut site = Self { rows, pages: HashMap::new(), latency };
        for offset in (0..=count).step_by(LIMIT) {
            let answer = site.render(offset, LIMIT);
            site.pages.insert((offset, LIMIT), answer);
        }
        site
    }

    fn render(&self, offset: usize, limit: usize) -> Vec<u8> {
        let end = (offset + limit).min(self.rows.len());
        let rows = self.rows.get(offset..end).unwrap_or_default().join(",");
        let body = format!(
            r#"{{"totals":{{"human":7000000,"ai":3000000,"total":9000000}},"visitors":[{rows}],"hasMore":{}}}"#,
            end < self.rows.len()
        );
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.into_bytes(), body.into_bytes()].concat()
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::with_capacity(64 * 1024, stream);
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut length = 0;
            loop {
                line.clear();
                if reader.read_line(&mut line)? == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            io::copy(&mut (&mut reader).take(length), &mut io::sink())?;
            let number = |name: &str, default| {
                let query = target.split_once('?').map_or("", |(_, query)| query);
                let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
                value.and_then(|value| value.parse().ok()).unwrap_or(default)
            };
            let (offset, limit) = (number("offset", 0), number("limit", 50));
            REQUESTS.fetch_add(1, Ordering::Relaxed);
            if offset >= self.rows.len() {
                BEYOND.fetch_add(1, Ordering::Relaxed);
            }
            if !self.latency.is_zero() {
                thread::sleep(self.latency);
            }
            match self.pages.get(&(offset, limit)) {
                Some(page) => writer.write_all(page)?,
                None => writer.write_all(&self.render(offset, limit))?,
            }
        }
    }
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap_or(0));
    let (rows, latency) = (arguments.next().unwrap_or(0), arguments.next().unwrap_or(0));
    let rows = usize::try_from(rows).unwrap_or(0);
    let site = Arc::new(Site::new(rows, Duration::from_millis(latency)));
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    println!("{}", listener.local_addr()?.port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let site = Arc::clone(&site);
            // A connection that breaks ends its thread and nothing else.
            thread::spawn(move || drop(site.serve(stream)));
        }
    });
    // Each line asks for the counts so far; the end of input ends the server.
    for line in io::stdin().lines() {
        line?;
        println!("{} {}", REQUESTS.load(Ordering::Relaxed), BEYOND.load(Ordering::Relaxed));
    }
    Ok(())
}
