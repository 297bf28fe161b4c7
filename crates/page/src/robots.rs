//! The rules that a website has for robots.

use std::time::Duration;

use robotstxt::RobotsParseHandler;
use robotstxt::matcher::{RobotsMatchStrategy, RobotsMatcher};
use url::Url;

/// Maximum pause between two requests that a website can ask for.
const MAX_DELAY: Duration = Duration::from_secs(10);
/// Maximum sitemaps of a `robots.txt`.
const MAX_SITEMAPS: usize = 5;

/// A `robots.txt`. An empty one allows everything.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    text: String,
    /// The pause between two requests that the website asks for.
    pub delay: Duration,
    /// The addresses of its sitemaps.
    pub sitemaps: Vec<String>,
}

impl Robots {
    /// Maximum bytes of a `robots.txt` that are read, as RFC 9309 says.
    pub const MAX_BYTES: usize = 500 * 1024;

    /// Reads a `robots.txt`, with the pause that is asked of this agent.
    pub fn parse(body: &[u8], agent: &str) -> Self {
        let text = String::from_utf8_lossy(body).into_owned();
        let mut found = Found::new(agent);
        robotstxt::parse_robotstxt(&text, &mut found);
        let delay = found.own.or(found.any).unwrap_or_default().min(MAX_DELAY);
        Self { text, delay, sitemaps: found.sitemaps }
    }

    /// Returns the bytes that it needs in memory.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.sitemaps.iter().map(String::len).sum::<usize>()
    }

    /// Returns whether an agent may read a page. It may take long, for a large file.
    pub fn allows(&self, agent: &str, url: &Url) -> bool {
        if self.text.is_empty() {
            return true;
        }
        let mut matcher = RobotsMatcher::<LongestMatch>::default();
        matcher.one_agent_allowed_by_robots(&self.text, agent, url.as_str())
    }
}

/// Matches paths in linear time. The crate's own strategy takes a time that grows with the cube of a pattern
/// such as `*a*a*a`.
#[derive(Default)]
struct LongestMatch;

impl RobotsMatchStrategy for LongestMatch {
    fn match_allow(&self, path: &str, pattern: &str) -> i32 {
        if matches(path, pattern) { i32::try_from(pattern.len()).unwrap_or(i32::MAX) } else { -1 }
    }

    fn match_disallow(&self, path: &str, pattern: &str) -> i32 {
        self.match_allow(path, pattern)
    }
}

/// Returns whether a path begins as a pattern says, in which `*` stands for any text and a last `$` for the
/// end.
fn matches(path: &str, pattern: &str) -> bool {
    let (pattern, is_anchored) = pattern.strip_suffix('$').map_or((pattern, false), |rest| (rest, true));
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return !is_anchored || rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    if is_anchored { rest.ends_with(last) } else { rest.contains(last) }
}

/// Finds what the crate's matcher does not tell: sitemaps and pauses.
#[derive(Debug)]
struct Found<'a> {
    agent: &'a str,
    sitemaps: Vec<String>,
    own: Option<Duration>,
    any: Option<Duration>,
    is_own: bool,
    is_any: bool,
    /// Whether the last line named an agent: several in a row share their rules.
    names_agents: bool,
}

impl<'a> Found<'a> {
    fn new(agent: &'a str) -> Self {
        Self {
            agent,
            sitemaps: Vec::new(),
            own: None,
            any: None,
            is_own: false,
            is_any: false,
            names_agents: false,
        }
    }
}

impl RobotsParseHandler for Found<'_> {
    fn handle_robots_start(&mut self) {}

    fn handle_robots_end(&mut self) {}

    fn handle_user_agent(&mut self, _: u32, agent: &str) {
        if !self.names_agents {
            (self.is_own, self.is_any) = (false, false);
        }
        self.names_agents = true;
        self.is_any |= agent.trim() == "*";
        self.is_own |= agent.trim().eq_ignore_ascii_case(self.agent);
    }

    fn handle_allow(&mut self, _: u32, _: &str) {
        self.names_agents = false;
    }

    fn handle_disallow(&mut self, _: u32, _: &str) {
        self.names_agents = false;
    }

    fn handle_sitemap(&mut self, _: u32, value: &str) {
        if self.sitemaps.len() < MAX_SITEMAPS {
            self.sitemaps.push(value.to_owned());
        }
    }

    fn handle_unknown_action(&mut self, _: u32, action: &str, value: &str) {
        self.names_agents = false;
        if !action.eq_ignore_ascii_case("crawl-delay") {
            return;
        }
        let seconds = value.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if self.is_own {
            self.own = self.own.or(seconds);
        } else if self.is_any {
            self.any = self.any.or(seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: &str = "site-connector";

    fn parse(body: &[u8]) -> Robots {
        Robots::parse(body, AGENT)
    }

    fn allows(robots: &str, path: &str) -> bool {
        let url = Url::parse("https://shop.example/").and_then(|url| url.join(path)).expect("an address");
        parse(robots.as_bytes()).allows(AGENT, &url)
    }

    #[test]
    fn obeys_the_rules_of_its_own_name_or_else_those_for_all() {
        let robots = "User-agent: *\nDisallow: /\n\nUser-agent: Site-Connector\nDisallow: /private\nAllow: /private/open";
        assert!(allows(robots, "/mugs"));
        assert!(!allows(robots, "/private/x"));
        assert!(allows(robots, "/private/open/x"));
        assert!(!allows("User-agent: *\nDisallow: /cart", "/cart?x=1"));
        assert!(allows("User-agent: other\nDisallow: /", "/"));
        assert!(allows("", "/"));
        assert!(allows("<!doctype html><p>Disallow: nothing", "/"));
    }

    #[test]
    fn a_star_stands_for_any_text_and_a_dollar_for_the_end() {
        for (pattern, path, expected) in [
            ("/", "/", true),
            ("/a*b", "/axxb/c", true),
            ("/*.pdf$", "/a.pdf", true),
            ("/*.pdf$", "/a.pdf?x", false),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("*/x", "/y/x", true),
            ("/a**b", "/ab", true),
            ("", "/", true),
            ("/ab*ab$", "/ab", false),
        ] {
            assert_eq!(matches(path, pattern), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn reads_the_pause_and_the_sitemaps() {
        let robots = "User-agent: *\nCrawl-delay: 3\nDisallow:\nSitemap: https://shop.example/map.xml\n\
                      User-agent: site-connector\nUser-agent: other\nCrawl-delay: 0.5\n";
        let robots = parse(robots.as_bytes());
        assert_eq!(robots.delay, Duration::from_millis(500));
        assert_eq!(robots.sitemaps, ["https://shop.example/map.xml"]);
        assert_eq!(parse(b"User-agent: *\nCrawl-delay: 86400").delay, MAX_DELAY);
        for nonsense in ["-5", "NaN", "inf", "soon", ""] {
            let robots = format!("User-agent: *\nCrawl-delay: {nonsense}");
            assert!(parse(robots.as_bytes()).delay <= MAX_DELAY, "{nonsense}");
        }
    }

    #[test]
    fn hostile_patterns_take_no_more_than_linear_time() {
        let rule = format!("Disallow: /{}b$\n", "*a".repeat(1000));
        let robots = format!("User-agent: *\n{}", rule.repeat(200));
        assert!(allows(&robots, &format!("/{}", "a".repeat(2000))));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300), path in "/[ -~]{0,30}") {
            let robots = parse(&bytes);
            if let Ok(url) = Url::parse(&format!("https://shop.example{path}")) {
                robots.allows(AGENT, &url);
            }
        }

        #[test]
        fn any_rules_are_read(text in "((user-agent|disallow|allow|sitemap|crawl-delay|)[:= ]{0,2}[*/$a-z%é \u{0}]{0,12}\n){0,12}") {
            let robots = parse(text.as_bytes());
            robots.allows(AGENT, &Url::parse("https://shop.example/a/b?c").expect("an address"));
        }
    }
}
