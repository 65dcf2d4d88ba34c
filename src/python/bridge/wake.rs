//! The thread that asks for the interpreter, so that no worker of the runtime ever waits for it: a
//! user's long computation must neither keep answers from being read nor let requests time out.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, SendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::python::bridge::runtime;
use crate::python::prelude::*;

/// A function that a worker sends to Python. It is called with the interpreter held.
type Wake = Box<dyn FnOnce(Python<'_>) + Send>;

enum WakeMessage {
    Wake(Wake),
    Stop,
}

/// The way to that thread.
#[derive(Clone)]
pub struct Waker {
    messages: mpsc::Sender<WakeMessage>,
    thread: Arc<JoinHandle<()>>,
}

impl Waker {
    pub fn start() -> io::Result<Self> {
        let (messages, inbox) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("docplatform-wake".to_owned())
            .spawn(move || run(&inbox))?;
        Ok(Self {
            messages,
            thread: Arc::new(thread),
        })
    }

    /// Calls `wake` soon, on the waking thread.
    pub fn wake(&self, wake: impl FnOnce(Python<'_>) + Send + 'static) {
        if let Err(SendError(message)) = self.messages.send(WakeMessage::Wake(Box::new(wake))) {
            // The thread and the interpreter have ended. Their objects must not be touched.
            std::mem::forget(message);
        }
    }

    /// Ends the thread, and waits for that.
    pub fn stop(&self, patience: Duration) {
        let _ = self.messages.send(WakeMessage::Stop);
        wait_for(patience, || self.thread.is_finished());
    }
}

/// Waits until it `is_over`, no longer than `patience`.
pub(super) fn wait_for(patience: Duration, is_over: impl Fn() -> bool) {
    let until = Instant::now() + patience;
    while !is_over() && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

fn run(inbox: &mpsc::Receiver<WakeMessage>) {
    while let Ok(WakeMessage::Wake(first)) = inbox.recv() {
        let mut next = Some(WakeMessage::Wake(first));
        // All wake-ups that wait are done together, because asking for the interpreter is the
        // costly part.
        let more = Python::try_attach(|py| {
            while let Some(message) = next.take().or_else(|| inbox.try_recv().ok()) {
                match message {
                    // A panic is a bug. It must not end this thread, without which nothing is
                    // woken.
                    WakeMessage::Wake(wake) => {
                        let _ = catch_unwind(AssertUnwindSafe(|| wake(py)));
                    }
                    WakeMessage::Stop => return false,
                }
            }
            true
        });
        match more {
            Some(true) => {}
            Some(false) => return,
            None => {
                // The interpreter is gone.
                std::mem::forget(next);
                runtime::park();
            }
        }
    }
}
