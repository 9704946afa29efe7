//! What is known of models: windows, limits and prices, from `assets/models.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::session::Usage;

/// A model that is known.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// `PROVIDER/MODEL`.
    pub id: String,
    /// Tokens that a request may hold.
    pub window: u64,
    /// Tokens that a reply may hold, thoughts included.
    pub max_output: u64,
    price: Price,
    above: Option<Tier>,
}

/// US$ for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Price {
    input: f64,
    cached: f64,
    output: f64,
}

/// The price of a request whose input exceeds `tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Tier {
    tokens: u64,
    #[serde(flatten)]
    price: Price,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    model: Vec<ModelInfo>,
}

/// Finds a model by `PROVIDER/MODEL`.
pub fn lookup(id: &str) -> Option<&'static ModelInfo> {
    static MODELS: LazyLock<Vec<ModelInfo>> = LazyLock::new(|| {
        let file: File = toml::from_str(include_str!("../../assets/models.toml"))
            .expect("a test reads this very file");
        file.model
    });
    MODELS.iter().find(|model| model.id == id)
}

impl ModelInfo {
    /// Returns the US$ that one request cost.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let tier = self.above.filter(|tier| usage.input > tier.tokens);
        let price = tier.map_or(self.price, |tier| tier.price);
        let fresh = usage.input.saturating_sub(usage.cached);
        let tokens =
            [(fresh, price.input), (usage.cached, price.cached), (usage.output, price.output)];
        tokens.iter().map(|&(count, price)| count as f64 * price / 1e6).sum()
    }
}

/// Returns the US$ that one request to a model cost; none where the price is unknown.
pub fn cost(id: &str, usage: &Usage) -> Option<f64> {
    lookup(id).map(|model| model.cost(usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_costs_what_its_tier_says() {
        let usage = |input, cached, output| Usage { input, cached, output, thinking: 0 };
        let table = [
            ("gemini/gemini-3.8-flash", usage(1_000_000, 0, 0), Some(0.75)),
            ("gemini/gemini-3.8-flash", usage(1_000_000, 1_000_000, 100_000), Some(0.45)),
            ("gemini/gemini-3.1-pro-preview", usage(200_000, 0, 0), Some(0.4)),
            ("gemini/gemini-3.1-pro-preview", usage(300_000, 0, 0), Some(1.2)),
            ("scripted/demo", usage(1, 0, 0), None),
        ];
        for (id, usage, wanted) in table {
            let cost = cost(id, &usage).map(|cost| (cost * 1e6).round() / 1e6);
            assert_eq!(cost, wanted, "{id} {usage:?}");
        }
    }

    #[test]
    fn the_default_model_is_known() {
        let model = lookup(&crate::config::Config::default().model).unwrap();
        assert_eq!((model.window, model.max_output), (1_048_576, 65_536));
    }
}
