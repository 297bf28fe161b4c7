//! Digests as file names.

use uuid::Uuid;

/// Returns a file name for any bytes: the same name for the same bytes.
pub(super) fn digest(bytes: &[u8]) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, bytes).simple().to_string()
}
