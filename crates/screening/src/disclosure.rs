//! Who supplied a report, as the adverse action notice has to say (15 U.S.C. 1681m(a)(3)).

use portico_domain::Text;
use portico_domain::text::TextFormat;

use crate::BureauConfig;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BureauContact {
    pub name: String,
    /// On one line.
    pub address: String,
    pub telephone: String,
}

#[derive(Debug)]
struct DisclosureFormat;

impl TextFormat for DisclosureFormat {
    const MAX: usize = 200;
}

impl BureauConfig {
    /// The fields of the disclosure that the configuration lacks; a live instance needs all of them.
    pub fn missing_disclosure(&self) -> impl Iterator<Item = &'static str> {
        self.disclosure_fields().into_iter().filter_map(|(field, value)| value.is_none().then_some(field))
    }

    /// `None` unless all fields are there. Every invalid field is a fault.
    pub(crate) fn disclosure(&self, faults: &mut Vec<String>) -> Option<BureauContact> {
        let [name, address, telephone] = self.disclosure_fields().map(|(field, value)| {
            let parsed = Text::<DisclosureFormat>::parse(value?);
            parsed.map(String::from).map_err(|fault| faults.push(format!("{field} {}", fault.message))).ok()
        });
        Some(BureauContact { name: name?, address: address?, telephone: telephone? })
    }

    fn disclosure_fields(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("name", self.name.as_deref()),
            ("address", self.address.as_deref()),
            ("telephone", self.telephone.as_deref()),
        ]
    }
}
