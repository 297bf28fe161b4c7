//! Servers that tests of the service need, and many callers at once. They panic when something fails.

#![allow(clippy::missing_panics_doc, reason = "a test that panics has failed")]

pub mod databases;
pub mod push;

/// Runs as many tasks at once, each with its number from 0, and returns their results in this order.
pub async fn at_once<T, F>(count: usize, task: impl FnMut(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(task).map(tokio::spawn).collect();
    let mut results = Vec::with_capacity(count);
    for task in tasks {
        results.push(task.await.expect("no panic"));
    }
    results
}
