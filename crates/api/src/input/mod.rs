//! The strict reader: parses and describes the input of operations.

mod domain_fields;
mod etag;
mod fields;
mod json;
mod object;
mod pointer;
mod reader;

pub(crate) use domain_fields::enums;
pub(crate) use etag::{IfMatch, IfNoneMatch};
pub(crate) use fields::{
    BoundingBox, Hash, Latitude, NonEmptyVec, NumericId, WalletAddress, default_radius, some_text,
};
pub(crate) use json::Json;
pub(crate) use object::{Field, Object};
pub(crate) use pointer::JsonPointer;
#[cfg(test)]
pub(crate) use reader::requested_parts;
pub(crate) use reader::{Description, Input, Param, Parts, PathParams, Reader, describe, read};
