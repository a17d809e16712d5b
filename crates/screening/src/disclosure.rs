//! Who supplied a report, as the adverse action notice has to say (15 U.S.C. 1681m(a)(3)).

use portico_domain::Text;
use portico_domain::text::TextFormat;

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

impl BureauContact {
    /// `None` unless all fields are there. Every invalid field is a fault.
    pub(crate) fn parse(fields: [(&'static str, Option<&str>); 3], faults: &mut Vec<String>) -> Option<Self> {
        let [name, address, telephone] = fields.map(|(field, value)| {
            let parsed = Text::<DisclosureFormat>::parse(value?);
            parsed.map(String::from).map_err(|fault| faults.push(format!("{field} {}", fault.message))).ok()
        });
        Some(Self { name: name?, address: address?, telephone: telephone? })
    }
}
