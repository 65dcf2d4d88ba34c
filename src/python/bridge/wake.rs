//! The thread that asks for the interpreter, so that no worker of the runtime ever waits for it: a user's long
//! computation must neither keep answers from being read nor let requests time out.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, SendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::python::bridge::runtime;

/// What a worker has to tell Python; called with the interpreter held.
type Wake = Box<dyn FnOnce(Python<'_>) + Send>;

enum WakeMessage {
    Wake(Wake),
    Stop,
}

/// The way to that thread.
#[derive(Clone)]
pub(crate) struct Waker {
    messages: mpsc::Sender<WakeMessage>,
    thread: Arc<JoinHandle<()>>,
}

impl Waker {
    pub(crate) fn start() -> io::Result<Self> {
        let (messages, inbox) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("docplatform-wake".to_owned())
            .spawn(move || run(&inbox))?;
        Ok(Self {
            messages,
            thread: Arc::new(thread),
        })
    }

    /// Has `wake` called soon.
    pub(crate) fn wake(&self, wake: impl FnOnce(Python<'_>) + Send + 'static) {
        if let Err(SendError(message)) = self.messages.send(WakeMessage::Wake(Box::new(wake))) {
            // The thread has ended, and so does the interpreter: its objects are not to be touched.
            std::mem::forget(message);
        }
    }

    /// Ends the thread, and waits for that.
    pub(crate) fn stop(&self, patience: Duration) {
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
        // All that wait are woken at one go: asking for the interpreter is what costs.
        let more = Python::try_attach(|py| {
            while let Some(message) = next.take().or_else(|| inbox.try_recv().ok()) {
                match message {
                    WakeMessage::Wake(wake) => wake(py),
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
