//! The `ApplicationChecks` of versions before 0.3, whose flags had no expiry: what the migration needs of it.

pub(crate) use FormerApplicationChecks::{Item, Pair, Record, recordCall, recordsOfCall};

mod interface {
    alloy_sol_types::sol! {
        #[derive(Debug, PartialEq, Eq)]
        interface FormerApplicationChecks {
            struct Item {
                bytes32 listing;
                bytes32 applicant;
                uint64 version;
                bool cleared;
                uint8 flags;
            }

            struct Record {
                uint64 version;
                bool cleared;
                uint8 flags;
            }

            struct Pair {
                bytes32 listing;
                bytes32 applicant;
            }

            function record(Item[] calldata items) external;
            function recordsOf(Pair[] calldata pairs) external view returns (Record[] memory records);
        }
    }
}
use interface::FormerApplicationChecks;

#[cfg(test)]
mod tests {
    use alloy_sol_types::SolCall;

    use super::*;
    use crate::contracts::checks;

    #[test]
    fn the_two_versions_have_different_selectors() {
        assert_ne!(recordCall::SELECTOR, checks::recordCall::SELECTOR);
    }
}
