//! [`ToolSchema`] for types of other crates, each behind a feature of the crate's name.
//!
//! The formats are those of JSON Schema; `date-time-local` and `time-local`, which have no
//! offset, are those of the OpenAPI format registry, and `zoned-date-time` is that of
//! `schemars`.

#[cfg(any(
    feature = "chrono",
    feature = "jiff",
    feature = "uuid",
    feature = "url"
))]
macro_rules! formats {
    ($($type:ty: $format:literal;)*) => {$(
        impl crate::schema::ToolSchema for $type {
            const SCHEMA: crate::schema::Schema = crate::schema::Schema::Format($format);
        }
    )*};
}

#[cfg(feature = "chrono")]
mod chrono {
    use chrono::{DateTime, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Weekday};

    use crate::schema::{Schema, ToolSchema};

    impl<Zone: TimeZone> ToolSchema for DateTime<Zone> {
        const SCHEMA: Schema = Schema::Format("date-time");
    }

    formats! {
        NaiveDate: "date";
        NaiveTime: "time-local";
        NaiveDateTime: "date-time-local";
    }

    impl ToolSchema for Weekday {
        const SCHEMA: Schema = Schema::Enum(&["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]);
    }

    impl ToolSchema for Month {
        const SCHEMA: Schema = Schema::Enum(&[
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ]);
    }
}

#[cfg(feature = "jiff")]
formats! {
    jiff::Timestamp: "date-time";
    jiff::ZonedDateTime: "zoned-date-time";
    jiff::civil::Date: "date";
    jiff::civil::Time: "time-local";
    jiff::civil::DateTime: "date-time-local";
    jiff::Span: "duration";
    jiff::SignedDuration: "duration";
}

#[cfg(feature = "uuid")]
formats! {
    uuid::Uuid: "uuid";
}

#[cfg(feature = "url")]
formats! {
    url::Url: "uri";
}
