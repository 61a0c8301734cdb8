//! A drawn integer as a parameter of a statement, whatever numeric or text type the server wants.

use bytes::BytesMut;
use std::error::Error;
use tokio_postgres::types::{Format, IsNull, ToSql, Type};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Int(pub(crate) i64);

impl Int {
    /// Whether an integer can stand for this type.
    pub(crate) fn fits(ty: &Type) -> bool {
        <Int as ToSql>::accepts(ty)
    }

    fn binary(ty: &Type) -> bool {
        matches!(*ty, Type::INT2 | Type::INT4 | Type::INT8 | Type::FLOAT4 | Type::FLOAT8)
    }
}

impl ToSql for Int {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *ty {
            Type::INT4 => out.extend_from_slice(&i32::try_from(self.0)?.to_be_bytes()),
            Type::INT8 => out.extend_from_slice(&self.0.to_be_bytes()),
            Type::INT2 => out.extend_from_slice(&i16::try_from(self.0)?.to_be_bytes()),
            Type::FLOAT8 => out.extend_from_slice(&(self.0 as f64).to_be_bytes()),
            Type::FLOAT4 => out.extend_from_slice(&(self.0 as f32).to_be_bytes()),
            _ => std::fmt::Write::write_fmt(out, format_args!("{}", self.0))?,
        }
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        Int::binary(ty)
            || matches!(
                *ty,
                Type::NUMERIC | Type::OID | Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::UNKNOWN
            )
    }

    fn encode_format(&self, ty: &Type) -> Format {
        if Int::binary(ty) { Format::Binary } else { Format::Text }
    }

    tokio_postgres::types::to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_written_as_the_type_wants_it() {
        for (ty, bytes) in [
            (Type::INT2, &[0xff, 0xfe][..]),
            (Type::INT4, &[0xff, 0xff, 0xff, 0xfe]),
            (Type::INT8, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]),
            (Type::FLOAT4, &(-2f32).to_be_bytes()),
            (Type::FLOAT8, &(-2f64).to_be_bytes()),
            (Type::NUMERIC, b"-2"),
            (Type::UNKNOWN, b"-2"),
        ] {
            let mut out = BytesMut::new();
            Int(-2).to_sql(&ty, &mut out).unwrap();
            assert_eq!(&out[..], bytes, "{ty}");
        }
        assert!(Int(40_000).to_sql(&Type::INT2, &mut BytesMut::new()).is_err());
        assert!(!Int::fits(&Type::DATE) && !Int::fits(&Type::BOOL));
    }
}
