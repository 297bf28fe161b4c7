//! Receives what other nodes announce, and notices when one is gone.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::Row as _;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};
use tracing::warn;

use super::{CHANNEL, open_pool};
use crate::db::wake::Announcer;
use crate::db::{OpenError, Wake};

/// The name of each node's connection that listens. As long as it is open, the node lives.
const NAME: &str = "site-connector listener";
/// The interval between attempts to listen again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which a node looks which other ones live.
const NODES_INTERVAL: Duration = Duration::from_secs(5);

/// Returns the pool of the connection that listens, which is not opened yet. The server closes it some two
/// minutes after its machine was lost.
pub(super) async fn pool(options: PgConnectOptions) -> Result<PgPool, OpenError> {
    let probes = [("tcp_keepalives_idle", "30"), ("tcp_keepalives_interval", "10")];
    open_pool(options.application_name(NAME).options(probes), 1).await
}

/// Passes on what all nodes announce. After a lost connection, anything may have changed.
pub(super) async fn listen(own: &PgPool, pool: &PgPool, announcer: &Announcer) {
    loop {
        if let Err(error) = listen_once(own, pool, announcer).await {
            warn!("announcements of other nodes are not received: {error}");
        }
        sleep(RETRY_INTERVAL).await;
    }
}

async fn listen_once(own: &PgPool, pool: &PgPool, announcer: &Announcer) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(own).await?;
    listener.listen(CHANNEL).await?;
    let mut known = nodes(pool).await?;
    announcer.announce(Wake::Everything);
    let mut look = interval_at(Instant::now() + NODES_INTERVAL, NODES_INTERVAL);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            received = listener.try_recv() => announcer.announce(match received? {
                Some(notification) => Wake::from_payload(notification.payload()),
                // The connection was lost, and is restored with the next call.
                None => Wake::Everything,
            }),
            _ = look.tick() => {
                let nodes = nodes(pool).await?;
                // The last changes of a node that was killed may not have been announced.
                if !known.is_subset(&nodes) {
                    announcer.announce(Wake::Everything);
                }
                known = nodes;
            }
        }
    }
}

/// Returns the server processes of the nodes that live.
async fn nodes(pool: &PgPool) -> Result<HashSet<i32>, sqlx::Error> {
    let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()";
    let rows = sqlx::query(sql).bind(NAME).fetch_all(pool).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
