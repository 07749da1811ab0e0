//! What the tests of sqlx expect of a crate that is published nowhere: connections to DATABASE_URL, and macros that make
//! tests of types of a list of texts and the values that they stand for.
use sqlx::pool::PoolOptions;
use sqlx::{Connection, Database, Pool};

pub use anyhow;
pub use paste;
pub use sqlx;

pub fn setup_if_needed() {
    let _ = dotenvy::dotenv();
    let _ = env_logger::builder().is_test(true).try_init();
}

fn url() -> anyhow::Result<String> {
    setup_if_needed();
    Ok(dotenvy::var("DATABASE_URL")?)
}

pub async fn new<DB: Database>() -> anyhow::Result<DB::Connection> {
    Ok(DB::Connection::connect(&url()?).await?)
}

pub async fn pool<DB: Database>() -> anyhow::Result<Pool<DB>> {
    let pool = PoolOptions::<DB>::new().min_connections(0).max_connections(5).test_before_acquire(true).connect(&url()?).await?;
    Ok(pool)
}

/// The value in text and in a parameter.
#[macro_export]
macro_rules! test_type {
    ($name:ident<$type:ty>($db:ident, $sql:literal, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>($db, $sql, $($text == $value),+));
        $crate::test_unprepared_type!($name<$type>($db, $($text == $value),+));
    };
    ($name:ident<$type:ty>($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>($db, $($text == $value),+));
        $crate::test_unprepared_type!($name<$type>($db, $($text == $value),+));
    };
    // Points compare with ~=, and arrays of such only by what comes back.
    ($name:ident<$type:ty>($db:ident, $($text:literal ~= $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>($db, "SELECT ({0} ~= $1)::int4, {0} AS _2, $2 AS _3", $($text == $value),+));
        $crate::test_unprepared_type!($name<$type>($db, $($text == $value),+));
    };
    ($name:ident<$type:ty>($db:ident, $($text:literal @= $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>($db, "SELECT ($1 IS NOT NULL)::int4, {0} AS _2, $2 AS _3", $($text == $value),+));
        $crate::test_unprepared_type!($name<$type>($db, $($text == $value),+));
    };
    ($name:ident($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_type!($name<$name>($db, $($text == $value),+));
    };
}

/// A value that is only read.
#[macro_export]
macro_rules! test_decode_type {
    ($name:ident<$type:ty>($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_unprepared_type!($name<$type>($db, $($text == $value),+));
        $crate::paste::item! {
            #[sqlx_macros::test]
            async fn [<test_decoded_type_ $name>]() -> $crate::anyhow::Result<()> {
                use sqlx::Row;
                let mut connection = $crate::new::<$db>().await?;
                $(
                    let row = sqlx::query(sqlx::AssertSqlSafe(format!("SELECT {}", $text))).fetch_one(&mut connection).await?;
                    assert!($value == row.try_get::<$type, _>(0)?, "prepared: {}", $text);
                )+
                Ok(())
            }
        }
    };
}

#[macro_export]
macro_rules! test_unprepared_type {
    ($name:ident<$type:ty>($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::paste::item! {
            #[sqlx_macros::test]
            async fn [<test_unprepared_type_ $name>]() -> $crate::anyhow::Result<()> {
                use sqlx::{Executor, Row};
                let mut connection = $crate::new::<$db>().await?;
                $(
                    let row = connection.fetch_one(sqlx::AssertSqlSafe(format!("SELECT {}", $text))).await?;
                    assert!($value == row.try_get::<$type, _>(0)?, "simple query: {}", $text);
                )+
                Ok(())
            }
        }
    };
}

#[macro_export]
macro_rules! test_prepared_type {
    ($name:ident<$type:ty>($db:ident, $sql:literal, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::paste::item! {
            #[sqlx_macros::test]
            async fn [<test_prepared_type_ $name>]() -> $crate::anyhow::Result<()> {
                use sqlx::Row;
                let mut connection = $crate::new::<$db>().await?;
                $(
                    let sql = $sql.replace("{0}", $text);
                    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind($value).bind($value).fetch_one(&mut connection).await?;
                    assert_eq!(row.try_get::<i32, _>(0)?, 1, "the server finds another value: {}", $text);
                    assert!($value == row.try_get::<$type, _>(1)?, "of the text: {}", $text);
                    assert!($value == row.try_get::<$type, _>(2)?, "of the parameter: {}", $text);
                )+
                Ok(())
            }
        }
    };
    ($name:ident<$type:ty>($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>($db, "SELECT ({0} IS NOT DISTINCT FROM $1)::int4, {0} AS _2, $2 AS _3", $($text == $value),+));
    };
    ($name:ident($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$name>($db, $($text == $value),+));
    };
}
