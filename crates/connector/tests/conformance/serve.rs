//! `site-connector serve`: its processes on an empty database, and the sites that `site-connector admin`
//! creates.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::api::Api;
use crate::servers::RATE_PER_MINUTE;
use chat_test_servers::databases::{Kind, TestDatabase};

const PROGRAM: &str = env!("CARGO_BIN_EXE_site-connector");

/// Runs its arguments as a process, which it ends when its standard input ends. The kernel closes that pipe
/// even when the suite is killed, so no process is left behind.
const WHILE_INPUT_IS_OPEN: &str = r#""$@" & exec >&-; read -r _; kill "$!"; wait "$!""#;

/// The origin of the pages of each site.
pub const PAGES: &str = "https://shop.example";

/// A service. Its processes end, and its data is removed, when it is dropped.
pub struct Serve {
    // In the order in which they are dropped.
    nodes: Vec<Node>,
    database: TestDatabase,
    folder: TempDir,
    abandoned: Option<(SiteOfServe, Value)>,
}

struct Node {
    shell: Child,
    origin: String,
}

/// A site, which is the only one of its tenant.
#[derive(Clone)]
pub struct SiteOfServe {
    pub tenant: String,
    pub id: String,
    pub token: String,
    pub token_id: String,
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

impl Serve {
    pub async fn start(kind: Kind, nodes: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = TestDatabase::new(kind).await;
        let mut serve = Self { nodes: Vec::new(), database, folder, abandoned: None };
        serve.abandoned = Some(serve.abandon_job().await);
        for number in 0..nodes {
            let node = serve.node(number, &[]);
            serve.nodes.push(node);
        }
        serve
    }

    fn key_file(&self) -> PathBuf {
        self.folder.path().join("service.key")
    }

    /// Returns the command `words` on this database, without settings of the environment.
    fn command(&self, mut command: Command, words: &[&str]) -> Command {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SERVICE_") {
                command.env_remove(name);
            }
        }
        command.current_dir(self.folder.path()).args(words).arg("--json");
        command.args(["--database", &self.database.address, "--key-file"]).arg(self.key_file());
        command
    }

    /// Starts a process on a free port, and waits until it is ready.
    fn node(&self, number: usize, flags: &[&str]) -> Node {
        let rate = RATE_PER_MINUTE.to_string();
        let words =
            [&["serve", "--listen", "127.0.0.1:0", "--rate-per-minute", &rate, "--job-retry", "0"], flags]
                .concat();
        let mut shell = Command::new("sh");
        shell.args(["-c", WHILE_INPUT_IS_OPEN, "sh", PROGRAM]);
        let log = self.folder.path().join(format!("log-{number}"));
        let mut command = self.command(shell, &words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log).expect("a file"));
        let mut node = Node { shell: command.spawn().expect("runs"), origin: String::new() };
        let mut line = String::new();
        let stdout = node.shell.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let announced: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            panic!("{error}: {line} {}", std::fs::read_to_string(&log).unwrap_or_default())
        });
        node.origin = text(&announced, "/address");
        node
    }

    /// Returns the origins of the processes.
    pub fn origins(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.origin.clone()).collect()
    }

    /// Runs `site-connector admin`, and returns what it prints.
    pub fn admin(&self, words: &[&str]) -> Value {
        let words = [&["admin"], words].concat();
        let output = self.command(Command::new(PROGRAM), &words).output().expect("runs");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Creates a site with a token, in a tenant of its own.
    pub fn create_site(&self, publishing: &str) -> SiteOfServe {
        let tenant = self.admin(&["tenant", "create", "--name", "Conformance"]);
        let tenant = text(&tenant, "/tenant/id");
        let settings = ["--origin", PAGES, "--publishing", publishing];
        let site =
            self.admin(&[&["site", "create", "--name", "Shop", "--tenant", &tenant], &settings[..]].concat());
        let id = text(&site, "/site/id");
        let token = self.admin(&["token", "create", "--site", &id]);
        SiteOfServe { tenant, id, token: text(&token, "/token"), token_id: text(&token, "/info/id") }
    }

    /// Claims a job that nobody completes, from a process whose leases are short. That process ends: other
    /// trials need leases that do not expire.
    async fn abandon_job(&self) -> (SiteOfServe, Value) {
        let node = self.node(0, &["--job-lease", "1"]);
        let site = self.create_site("automatic");
        let api = Api::of_site(vec![node.origin.clone()], &site);
        api.sync_page("abandoned").await;
        let job = api.claim("job-next-abandoned").await.unwrap_or_default();
        (site, job)
    }

    /// Returns the job that was claimed when the service was started, and its site.
    pub fn abandoned_job(&self) -> (SiteOfServe, Value) {
        self.abandoned.clone().expect("claimed at the start")
    }
}

/// Returns a text of an object.
#[track_caller]
pub fn text(object: &Value, pointer: &str) -> String {
    let member = object.pointer(pointer).and_then(Value::as_str);
    member.unwrap_or_else(|| panic!("{pointer} is no text in {object}")).to_owned()
}
