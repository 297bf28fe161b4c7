//! A browser that has subscribed to pushes, which really decrypts, and the push service of its maker.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// Returns a private key with these bytes. ring creates random ones only, which a test cannot use twice, and
/// has this source of numbers for its own tests.
#[expect(deprecated, reason = "for tests only, with the version of Cargo.lock")]
pub fn fixed_private_key(bytes: &[u8; 32]) -> EphemeralPrivateKey {
    let random = ring::test::rand::FixedSliceRandom { bytes };
    EphemeralPrivateKey::generate(&ECDH_P256, &random).expect("a number below the order of the curve")
}

/// A browser that has subscribed.
#[derive(Clone, Debug)]
pub struct PushBrowser {
    private: [u8; 32],
    /// The secret that the subscription shares with the service.
    pub auth: [u8; 16],
    /// The address that pushes are sent to.
    pub endpoint: String,
}

impl PushBrowser {
    /// Creates a browser; those of different seeds have different keys.
    pub fn new(seed: u8, endpoint: impl Into<String>) -> Self {
        Self { private: [seed; 32], auth: [seed; 16], endpoint: endpoint.into() }
    }

    /// Returns the browser's public key.
    pub fn public(&self) -> [u8; 65] {
        let public = fixed_private_key(&self.private).compute_public_key().expect("a key");
        public.as_ref().try_into().expect("65 bytes")
    }

    /// Returns the body of a request that subscribes.
    pub fn subscription(&self) -> Value {
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        json!({ "endpoint": self.endpoint, "p256dh": encode(&self.public()), "auth": encode(&self.auth) })
    }

    /// Decrypts a message, as the browser does.
    pub fn decrypt(&self, body: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(16);
        let (header, rest) = rest.split_at(5);
        assert_eq!(header, [0, 0, 16, 0, 65], "the record size, and the length of the key");
        let (sender, record) = rest.split_at(65);
        let public = UnparsedPublicKey::new(&ECDH_P256, sender);
        let key = agree_ephemeral(fixed_private_key(&self.private), &public, |secret| {
            let info = [&b"WebPush: info\0"[..], &self.public(), sender];
            let shared = expand::<32>(&Salt::new(HKDF_SHA256, &self.auth).extract(secret), &info);
            Salt::new(HKDF_SHA256, salt).extract(&shared)
        });
        let key = key.expect("a point of the curve");
        let content = expand::<16>(&key, &[b"Content-Encoding: aes128gcm\0"]);
        let nonce = Nonce::assume_unique_for_key(expand(&key, &[b"Content-Encoding: nonce\0"]));
        let content = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &content).expect("a key"));
        let mut record = record.to_vec();
        let padded = content.open_in_place(nonce, Aad::empty(), &mut record).expect("for this browser");
        let end = padded.iter().rposition(|byte| *byte != 0).expect("a delimiter");
        assert_eq!(padded[end], 2, "the last record");
        padded[..end].to_vec()
    }

    /// Decrypts a push as JSON.
    pub fn read(&self, push: &Push) -> Value {
        serde_json::from_slice(&self.decrypt(&push.body)).expect("JSON")
    }
}

fn expand<const N: usize>(key: &Prk, info: &[&[u8]]) -> [u8; N] {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut bytes = [0; N];
    key.expand(info, Length(N)).and_then(|derived| derived.fill(&mut bytes)).expect("derived");
    bytes
}

/// A push as it arrived at the push service.
#[derive(Clone, Debug)]
pub struct Push {
    /// The path of the endpoint.
    pub path: String,
    /// The headers of the request.
    pub headers: HeaderMap,
    /// The encrypted message.
    pub body: Bytes,
}

impl Push {
    /// Returns a header, which must be there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).expect("a header").to_str().expect("text")
    }
}

/// A push service on loopback. It gives the answers that are queued, and 201 after that.
#[derive(Clone, Debug)]
pub struct PushService {
    origin: String,
    state: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    received: Mutex<Vec<Push>>,
    answers: Mutex<VecDeque<(u16, Option<&'static str>)>>,
    arrived: Notify,
}

impl PushService {
    /// Starts a push service.
    pub async fn start() -> Self {
        let state = Arc::new(Shared::default());
        let router = Router::new().fallback(receive).with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, state }
    }

    /// Returns a browser that has subscribed here.
    pub fn browser(&self, seed: u8) -> PushBrowser {
        PushBrowser::new(seed, format!("{}/send/{seed}", self.origin))
    }

    /// Queues an answer: a status, with the header `Retry-After`.
    pub fn answer(&self, status: u16, retry_after: Option<&'static str>) {
        self.state.answers.lock().expect("no panic").push_back((status, retry_after));
    }

    /// Returns the pushes that have arrived.
    pub fn received(&self) -> Vec<Push> {
        self.state.received.lock().expect("no panic").clone()
    }

    /// Waits until a number of pushes has arrived, and returns them.
    pub async fn wait_for(&self, count: usize) -> Vec<Push> {
        let arrived = async {
            loop {
                let next = self.state.arrived.notified();
                if self.received().len() >= count {
                    return self.received();
                }
                next.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), arrived).await.expect("the pushes in time")
    }
}

async fn receive(State(state): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let push = Push { path: uri.path().to_owned(), headers, body };
    let (status, retry_after) = state.answers.lock().expect("no panic").pop_front().unwrap_or((201, None));
    state.received.lock().expect("no panic").push(push);
    state.arrived.notify_waiters();
    let status = StatusCode::from_u16(status).expect("a status");
    match retry_after {
        Some(seconds) => (status, [("retry-after", seconds)]).into_response(),
        None => status.into_response(),
    }
}
