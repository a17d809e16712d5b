//! The texts that applicants consent to, by version. A version's text never changes; a new text is a new version.

use std::collections::BTreeMap;

use portico_domain::Label;

const BUILT_IN_VERSION: &str = "2026-01";
const BUILT_IN_TEXT: &str = "I am the applicant. I agree that Portico asks the screening bureaus for the reports that are \
    named on this page: evictions, income, a soft credit inquiry and criminal records, as far as they are required. I agree \
    that the owner of each listing to which I apply sees which of the required checks I passed and which of the listing's \
    terms I meet, while my application is open or decided, but neither my score nor my income. I can end \
    that at any time, dispute a finding, and have my data erased.";
const MAX_CHARS: usize = 20_000;

/// The texts of this instance.
#[derive(Debug, Clone)]
pub struct Consents(BTreeMap<String, String>);

/// One text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    pub version: Label,
    pub text: String,
}

impl Default for Consents {
    fn default() -> Self {
        Self(BTreeMap::from([(BUILT_IN_VERSION.to_owned(), BUILT_IN_TEXT.to_owned())]))
    }
}

impl Consents {
    /// The built-in text and the configured ones. All faults at once.
    pub fn new(configured: &BTreeMap<String, String>) -> std::result::Result<Self, Vec<String>> {
        let (mut consents, mut faults) = (Self::default(), Vec::new());
        for (version, text) in configured {
            match parse(version, text) {
                Ok(Consent { version, .. }) if version.as_str() == BUILT_IN_VERSION => faults.push(format!(
                    "consents.{version} is built in: give your text a version of its own, because people may have \
                     consented to the built-in one"
                )),
                Ok(Consent { version, text }) => drop(consents.0.insert(version.into(), text)),
                Err(fault) => faults.push(format!("consents.{version} {fault}")),
            }
        }
        if faults.is_empty() { Ok(consents) } else { Err(faults) }
    }

    pub(super) fn get(&self, version: &Label) -> Option<Consent> {
        let text = self.0.get(version.as_str())?;
        Some(Consent { version: version.clone(), text: text.clone() })
    }

    pub(crate) fn newest(&self) -> Option<Label> {
        self.0.keys().next_back().map(|version| Label::stored(version.as_str()))
    }

    /// In the order of their versions.
    pub(super) fn all(&self) -> impl Iterator<Item = Consent> {
        let consent = |(version, text): (&String, &String)| Consent {
            version: Label::stored(version.as_str()),
            text: text.clone(),
        };
        self.0.iter().map(consent)
    }

    pub(super) fn contains(&self, version: &Label) -> bool {
        self.0.contains_key(version.as_str())
    }
}

fn parse(version: &str, text: &str) -> std::result::Result<Consent, String> {
    let version = Label::parse(version).map_err(|fault| format!("is no version: it {fault}"))?;
    let text = text.trim();
    if text.is_empty() {
        return Err("has no text".into());
    }
    if text.chars().count() > MAX_CHARS {
        return Err(format!("is longer than {MAX_CHARS} characters"));
    }
    Ok(Consent { version, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(texts: &[(&str, &str)]) -> BTreeMap<String, String> {
        texts.iter().map(|(version, text)| ((*version).into(), (*text).into())).collect()
    }

    #[test]
    fn built_in_text_stays_beside_configured_ones() {
        let consents = Consents::new(&configured(&[("2026-06", " I agree. ")])).unwrap();
        assert_eq!(consents.get(&Label::stored("2026-06")).unwrap().text, "I agree.");
        assert!(consents.get(&Label::stored(BUILT_IN_VERSION)).is_some());
        assert_eq!(consents.get(&Label::stored("2027")), None);
    }

    #[test]
    fn all_faults_are_reported() {
        let long = "x".repeat(MAX_CHARS + 1);
        let wrong = configured(&[("", "x"), ("2026-01", "x"), ("2026-02", " "), ("2026-03", &long)]);
        let faults = Consents::new(&wrong).unwrap_err();
        assert_eq!(faults.len(), 4, "{faults:?}");
    }
}
