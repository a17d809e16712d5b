//! Portfolios of infrastructure networks: predefined templates and users' portfolios.

use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};
use utoipa::ToSchema;

use crate::decimal::{AllocationUnit, Unit};
use crate::field_changes::{self, FieldChange, Fields};
use crate::{
    Allocation, Description, FaultCode, Label, PortfolioId, TemplateId, Timestamp, UserId, ValidationError,
    validation,
};

/// How much risk a portfolio takes, from the lowest to the highest.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    IntoStaticStr,
    EnumString,
    VariantArray,
    VariantNames,
    ToSchema,
)]
#[strum(const_into_str)]
pub enum RiskLevel {
    Conservative,
    #[strum(serialize = "Moderate Conservative")]
    #[serde(rename = "Moderate Conservative")]
    ModerateConservative,
    Moderate,
    #[strum(serialize = "Moderate Aggressive")]
    #[serde(rename = "Moderate Aggressive")]
    ModerateAggressive,
    Aggressive,
}

impl RiskLevel {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        validation::parse_name(name, FaultCode::UnknownRiskLevel)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolItem {
    pub protocol_name: Label,
    pub protocol_identifier: Label,
    /// In percent.
    pub allocation_percentage: Allocation,
}

/// The allocations add up to at most 100 percent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtocolItems(Vec<ProtocolItem>);

impl ProtocolItems {
    pub fn new(items: Vec<ProtocolItem>) -> Result<Self, ValidationError> {
        let items = Self(items);
        if items.sum() > AllocationUnit::MAX {
            return Err(ValidationError::new(
                FaultCode::OverAllocated,
                "allocations must add up to at most 100",
            ));
        }
        Ok(items)
    }

    fn sum(&self) -> i64 {
        self.0.iter().map(|item| item.allocation_percentage.units()).sum()
    }

    pub fn total(&self) -> Allocation {
        Allocation::from_units(self.sum())
    }

    pub fn as_slice(&self) -> &[ProtocolItem] {
        &self.0
    }
}

/// A predefined portfolio. Deleting it only deactivates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub id: TemplateId,
    pub name: Label,
    pub description: Option<Description>,
    pub risk: RiskLevel,
    pub items: ProtocolItems,
    pub active: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields that are `None` stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateChange {
    pub name: Option<Label>,
    pub description: Option<Description>,
    pub risk: Option<RiskLevel>,
    pub items: Option<ProtocolItems>,
    pub active: Option<bool>,
}

impl Template {
    #[must_use]
    pub fn changed(self, change: TemplateChange, now: Timestamp) -> Self {
        Self {
            name: change.name.unwrap_or(self.name),
            description: change.description.or(self.description),
            risk: change.risk.unwrap_or(self.risk),
            items: change.items.unwrap_or(self.items),
            active: change.active.unwrap_or(self.active),
            updated_at: now.after(self.updated_at),
            ..self
        }
    }

    pub fn copied(self, id: PortfolioId, user: UserId, custom: bool, now: Timestamp) -> Portfolio {
        Portfolio {
            id,
            user,
            name: Some(self.name),
            description: self.description,
            risk: self.risk,
            items: self.items,
            based_on: Some(self.id),
            custom,
            created_at: now,
            updated_at: now,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portfolio {
    pub id: PortfolioId,
    pub user: UserId,
    pub name: Option<Label>,
    pub description: Option<Description>,
    pub risk: RiskLevel,
    pub items: ProtocolItems,
    pub based_on: Option<TemplateId>,
    pub custom: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields that are `None` stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortfolioChange {
    pub name: Option<Label>,
    pub description: Option<Description>,
    pub risk: Option<RiskLevel>,
    pub items: Option<ProtocolItems>,
}

/// One edit in a portfolio's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortfolioEdit {
    /// 1 for the first edit.
    pub number: i64,
    pub at: Timestamp,
    pub changes: Vec<FieldChange>,
}

impl Portfolio {
    /// The fields that differ from an earlier state, in a fixed order.
    pub fn changes_since(&self, before: &Self) -> Vec<FieldChange> {
        field_changes::field_changes(before.fields(), self.fields())
    }

    /// Every field that can change, by its public name.
    fn fields(&self) -> Fields {
        vec![
            ("name", json!(self.name)),
            ("description", json!(self.description)),
            ("riskLevel", json!(self.risk)),
            ("protocolItems", json!(self.items.as_slice())),
        ]
    }

    #[must_use]
    pub fn changed(self, change: PortfolioChange, now: Timestamp) -> Self {
        Self {
            name: change.name.or(self.name),
            description: change.description.or(self.description),
            risk: change.risk.unwrap_or(self.risk),
            items: change.items.unwrap_or(self.items),
            updated_at: now.after(self.updated_at),
            ..self
        }
    }
}

/// Totals over all portfolios. Distributions count inactive ones too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortfolioStatistics {
    pub templates: i64,
    pub active_templates: i64,
    pub template_risks: Vec<(String, i64)>,
    pub portfolios: i64,
    pub custom_portfolios: i64,
    pub based_on_template: i64,
    pub portfolio_risks: Vec<(String, i64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(units: i64) -> ProtocolItem {
        let label = Label::parse("x").unwrap();
        ProtocolItem {
            protocol_name: label.clone(),
            protocol_identifier: label,
            allocation_percentage: Allocation::from_units(units),
        }
    }

    #[test]
    fn allocations_may_add_up_to_exactly_100() {
        let thirds = ProtocolItems::new(vec![item(333_333), item(333_333), item(333_334)]).unwrap();
        assert_eq!(thirds.total().to_string(), "100");
    }

    #[test]
    fn rejects_allocations_just_above_100() {
        assert_eq!(
            ProtocolItems::new(vec![item(1_000_000), item(1)]).unwrap_err().code.name(),
            "over_allocated"
        );
    }

    #[test]
    fn changes_name_public_fields_with_both_values() {
        let before = Template {
            id: TemplateId::stored("t"),
            name: Label::parse("Storage").unwrap(),
            description: None,
            risk: RiskLevel::Moderate,
            items: ProtocolItems::new(vec![item(500_000)]).unwrap(),
            active: true,
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        }
        .copied(PortfolioId::stored("p"), UserId::stored("ada"), true, Timestamp::from_micros(0));
        let change = PortfolioChange {
            risk: Some(RiskLevel::ModerateAggressive),
            items: Some(ProtocolItems::new(vec![item(625_000)]).unwrap()),
            ..PortfolioChange::default()
        };
        let after = before.clone().changed(change, Timestamp::from_micros(0));
        let share = |percent: serde_json::Value| json!([{"protocolName": "x", "protocolIdentifier": "x", "allocationPercentage": percent}]);
        let expected = [
            FieldChange {
                field: "riskLevel".into(),
                before: json!("Moderate"),
                after: json!("Moderate Aggressive"),
            },
            FieldChange {
                field: "protocolItems".into(),
                before: share(json!(50)),
                after: share(json!(62.5)),
            },
        ];
        assert_eq!(after.changes_since(&before), expected);
        assert_eq!(after.changes_since(&after), []);
    }

    #[test]
    fn risk_level_names_are_exact() {
        for level in RiskLevel::ALL {
            assert_eq!(RiskLevel::parse(level.as_str()), Ok(*level));
        }
        assert_eq!(RiskLevel::parse("moderate").unwrap_err().code.name(), "unknown_risk_level");
    }

    proptest! {
        #[test]
        fn a_total_is_the_exact_sum(shares in prop::collection::vec(0..=200_000_i64, 0..8)) {
            let sum: i64 = shares.iter().sum();
            match ProtocolItems::new(shares.into_iter().map(item).collect()) {
                Ok(items) => prop_assert_eq!(items.total().units(), sum),
                Err(_) => prop_assert!(sum > 1_000_000),
            }
        }
    }
}
