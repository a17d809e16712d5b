//! The tables of codes in `docs/api.md` are those of the enums.

use portico_domain::{ErrorCode, FaultCode};

use crate::status::status_of;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");
const BEGIN_ERRORS: &str = "<!-- error codes: generated, see crates/domain/src/error_code.rs -->\n";
const END_ERRORS: &str = "<!-- end of error codes -->\n";
const BEGIN_FAULTS: &str = "<!-- fault codes: generated, see crates/domain/src/fault_code.rs -->\n";
const END_FAULTS: &str = "<!-- end of fault codes -->\n";

/// The text with another table between two lines.
fn with_table(text: &str, begin: &str, table: &str, end: &str) -> String {
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    [before, begin, table, end, after].concat()
}

/// `UPDATE_DOCS=1` rewrites the tables.
#[test]
fn documented_tables_are_up_to_date() {
    let row = |code: &ErrorCode| format!("| {} | `{code}` | {} |\n", status_of(*code).as_u16(), code.text());
    let rows: String = ErrorCode::ALL.iter().map(row).collect();
    let errors = format!("| status | code | what is wrong |\n|---|---|---|\n{rows}");
    let row = |code: &FaultCode| format!("| `{code}` | {} |\n", code.text());
    let rows: String = FaultCode::ALL.iter().map(row).collect();
    let faults = format!("| code | what is wrong |\n|---|---|\n{rows}");

    let documented = std::fs::read_to_string(DOCS).unwrap();
    let expected = with_table(&documented, BEGIN_ERRORS, &errors, END_ERRORS);
    let expected = with_table(&expected, BEGIN_FAULTS, &faults, END_FAULTS);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(DOCS, expected).unwrap();
        return;
    }
    assert_eq!(documented, expected, "run UPDATE_DOCS=1 cargo test -p portico-api documented_tables");
}
