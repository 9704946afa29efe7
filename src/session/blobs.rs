//! Contents of files as they were, kept once each by their hash, so that any change can be taken back.
//!
//! A session that is not kept on disk holds them in memory. What passes the cap is not kept, which the
//! caller has to tell the person.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use blake3::Hash;

/// A quick level: before-images are written while the person waits.
const LEVEL: i32 = 1;

/// The contents of one session.
#[derive(Debug)]
pub struct Blobs {
    /// `None`: they are held in memory.
    folder: Option<PathBuf>,
    memory: HashMap<Hash, Vec<u8>>,
    /// Bytes taken so far, compressed.
    used: u64,
    /// Bytes that may be taken, compressed.
    cap: u64,
}

/// Why a content is not kept.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("the session's {0} bytes for earlier versions of files are used up")]
    Full(u64),
    #[error("it cannot be saved: {0}")]
    Io(#[from] io::Error),
    #[error("it was not kept")]
    Missing,
    #[error("what was kept is damaged")]
    Damaged,
}

impl Blobs {
    /// Opens the contents of a session's folder; without one they are held in memory.
    pub fn open(session: Option<&Path>, cap: u64) -> Self {
        let folder = session.map(|folder| folder.join("blobs"));
        let used = folder.as_deref().map_or(0, size_of);
        Self { folder, memory: HashMap::new(), used, cap }
    }

    /// Keeps a content, and returns once it is on the disk; one that is kept already costs nothing.
    pub fn put(&mut self, bytes: &[u8]) -> Result<Hash, BlobError> {
        self.keep(bytes, true)
    }

    /// Keeps a content like [`Blobs::put`], without waiting for the disk.
    pub fn put_soon(&mut self, bytes: &[u8]) -> Result<Hash, BlobError> {
        self.keep(bytes, false)
    }

    fn keep(&mut self, bytes: &[u8], waits: bool) -> Result<Hash, BlobError> {
        let hash = blake3::hash(bytes);
        if self.has(&hash) {
            return Ok(hash);
        }
        let packed = zstd::bulk::compress(bytes, LEVEL)?;
        let size = packed.len() as u64;
        if self.used + size > self.cap {
            return Err(BlobError::Full(self.cap));
        }
        match &self.folder {
            Some(folder) => write(folder, &hash, &packed, waits)?,
            None => drop(self.memory.insert(hash, packed)),
        }
        self.used += size;
        Ok(hash)
    }

    /// Returns whether a content is kept.
    pub fn has(&self, hash: &Hash) -> bool {
        match &self.folder {
            Some(folder) => path_of(folder, hash).exists(),
            None => self.memory.contains_key(hash),
        }
    }

    /// Returns a content exactly as it was put.
    pub fn get(&self, hash: &Hash) -> Result<Vec<u8>, BlobError> {
        let packed = match &self.folder {
            Some(folder) => std::fs::read(path_of(folder, hash)).map_err(missing)?,
            None => self.memory.get(hash).cloned().ok_or(BlobError::Missing)?,
        };
        let bytes = zstd::stream::decode_all(packed.as_slice()).map_err(|_| BlobError::Damaged)?;
        if blake3::hash(&bytes) == *hash { Ok(bytes) } else { Err(BlobError::Damaged) }
    }
}

fn missing(error: io::Error) -> BlobError {
    match error.kind() {
        io::ErrorKind::NotFound => BlobError::Missing,
        _ => error.into(),
    }
}

/// Writes a content under a temporary name first: a name that is a hash always holds all of it.
fn write(folder: &Path, hash: &Hash, packed: &[u8], waits: bool) -> io::Result<()> {
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let path = path_of(folder, hash);
    let temporary = path.with_extension("tmp");
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let result = options.open(&temporary).and_then(|mut file| {
        file.write_all(packed)?;
        if waits {
            file.sync_data()?;
        }
        std::fs::rename(&temporary, &path)
    });
    result.inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}

fn path_of(folder: &Path, hash: &Hash) -> PathBuf {
    folder.join(hash.to_hex().as_str())
}

/// Sums what lies in the folder, and removes what a kill left half written.
fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let mut size = 0;
    for entry in entries.flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "tmp") {
            std::fs::remove_file(entry.path()).ok();
            continue;
        }
        size += entry.metadata().map_or(0, |meta| meta.len());
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_comes_back_as_it_was_also_after_the_session_is_opened_again() {
        let home = tempfile::tempdir().unwrap();
        for session in [Some(home.path()), None] {
            let mut blobs = Blobs::open(session, 1 << 20);
            for bytes in [&b""[..], b"text\n", b"\0\xff"] {
                let hash = blobs.put(bytes).unwrap();
                assert_eq!(blobs.put(bytes).unwrap(), hash);
                assert_eq!(blobs.get(&hash).unwrap(), bytes);
            }
            assert!(matches!(blobs.get(&blake3::hash(b"other")), Err(BlobError::Missing)));
        }
        let again = Blobs::open(Some(home.path()), 1 << 20);
        assert_eq!(again.get(&blake3::hash(b"text\n")).unwrap(), b"text\n");
        assert!(again.used > 0);
    }

    #[test]
    fn what_passes_the_cap_is_refused_and_what_is_kept_stays() {
        let mut blobs = Blobs::open(None, 100);
        let hash = blobs.put(b"small").unwrap();
        let noise: Vec<u8> = (0..1000_u32)
            .flat_map(|n| blake3::hash(&n.to_le_bytes()).as_bytes()[..4].to_vec())
            .collect();
        assert!(matches!(blobs.put(&noise), Err(BlobError::Full(100))));
        assert_eq!(blobs.get(&hash).unwrap(), b"small");
    }

    #[test]
    fn damage_is_noticed_and_a_half_written_content_is_swept_away() {
        let home = tempfile::tempdir().unwrap();
        let mut blobs = Blobs::open(Some(home.path()), 1 << 20);
        let hash = blobs.put(b"text").unwrap();
        let path = path_of(&home.path().join("blobs"), &hash);
        std::fs::write(&path, zstd::bulk::compress(b"other", 1).unwrap()).unwrap();
        assert!(matches!(blobs.get(&hash), Err(BlobError::Damaged)));
        std::fs::write(path.with_extension("tmp"), "half").unwrap();
        Blobs::open(Some(home.path()), 1 << 20);
        assert!(!path.with_extension("tmp").exists());
    }
}
