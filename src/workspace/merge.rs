//! Three-way merging of a file: what one side and the other made of the same beginning.

use super::Text;

/// Both sides changed the same lines, or one of them is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("both sides changed the same lines")]
pub struct Conflict;

/// Joins two versions of a file that began as `base`; `None` is an absent file.
pub fn merge(
    base: Option<&[u8]>,
    ours: Option<&[u8]>,
    theirs: Option<&[u8]>,
) -> Result<Option<Vec<u8>>, Conflict> {
    let own = |bytes: Option<&[u8]>| Ok(bytes.map(<[u8]>::to_vec));
    if ours == base || ours == theirs {
        return own(theirs);
    }
    if theirs == base {
        return own(ours);
    }
    let (Some(base), Some(ours), Some(theirs)) = (base, ours, theirs) else { return Err(Conflict) };
    let read = |bytes| Text::decode(bytes).map_err(|_| Conflict);
    let (base, ours, theirs) = (read(base)?, read(ours)?, read(theirs)?);
    let merged = diffy::merge(&base.content, &ours.content, &theirs.content);
    let merged = ours.encode(&merged.map_err(|_| Conflict)?);
    merged.map(Some).map_err(|_| Conflict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_apart_is_joined_and_what_meets_is_a_conflict() {
        let base = "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n";
        let with = |from: &str, to: &str| base.replace(from, to);
        let joined = |ours: &str, theirs: &str| {
            let sides = [base, ours, theirs].map(|side| Some(side.as_bytes()));
            merge(sides[0], sides[1], sides[2])
                .map(|merged| String::from_utf8(merged.unwrap()).unwrap())
        };
        let (ours, theirs) = (with("1", "one"), with("7\r\n", "7\r\n8\r\n"));
        assert_eq!(joined(&ours, &theirs), Ok(ours.replace("7\r\n", "7\r\n8\r\n")));
        assert_eq!(joined(&with("4", "four"), &with("4", "FOUR")), Err(Conflict));
        assert_eq!(joined(base, &theirs), Ok(theirs.clone()));
        assert_eq!(joined(&ours, base), Ok(ours.clone()));
        assert_eq!(joined(&ours, &ours), Ok(ours));
    }

    #[test]
    fn a_file_that_one_side_removed_and_the_other_changed_is_a_conflict() {
        assert_eq!(merge(Some(b"a"), None, Some(b"b")), Err(Conflict));
        assert_eq!(merge(Some(b"a"), None, Some(b"a")), Ok(None));
        assert_eq!(merge(None, None, Some(b"b")), Ok(Some(b"b".to_vec())));
        assert_eq!(merge(Some(b"a\0"), Some(b"b\0"), Some(b"c\0")), Err(Conflict));
    }
}
