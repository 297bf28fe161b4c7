//! A row of a query's result.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, ValueRef as _};

use super::DbError;

/// A row. Columns are read by their position.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Reads a column of either database.
macro_rules! get {
    ($row:expr, $column:expr, $type:ty) => {
        match $row {
            Row::Sqlite(row) => row.try_get::<$type, usize>($column),
            Row::Postgres(row) => row.try_get::<$type, usize>($column),
        }
        .map_err(DbError::from)
    };
}

impl Row {
    pub(crate) fn text(&self, column: usize) -> Result<String, DbError> {
        get!(self, column, String)
    }

    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<String>, DbError> {
        get!(self, column, Option<String>)
    }

    pub(crate) fn int(&self, column: usize) -> Result<i64, DbError> {
        get!(self, column, i64)
    }

    pub(crate) fn optional_int(&self, column: usize) -> Result<Option<i64>, DbError> {
        get!(self, column, Option<i64>)
    }

    /// Returns a number that is stored as `BIGINT` but fits into 32 bits; a larger one is cut off.
    pub(crate) fn count(&self, column: usize) -> Result<u32, DbError> {
        Ok(u32::try_from(self.int(column)?.max(0)).unwrap_or(u32::MAX))
    }

    pub(crate) fn flag(&self, column: usize) -> Result<bool, DbError> {
        Ok(self.int(column)? != 0)
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<Vec<u8>, DbError> {
        get!(self, column, Vec<u8>)
    }

    pub(crate) fn optional_bytes(&self, column: usize) -> Result<Option<Vec<u8>>, DbError> {
        get!(self, column, Option<Vec<u8>>)
    }

    /// Returns whether a column is NULL.
    pub(crate) fn is_null(&self, column: usize) -> Result<bool, DbError> {
        match self {
            Self::Sqlite(row) => Ok(row.try_get_raw(column)?.is_null()),
            Self::Postgres(row) => Ok(row.try_get_raw(column)?.is_null()),
        }
    }
}
