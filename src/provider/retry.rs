//! Sending a failed request again.
