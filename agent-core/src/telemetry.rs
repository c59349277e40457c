//! Span and field names of OpenTelemetry.
