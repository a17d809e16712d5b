//! The street map of the console: one PMTiles archive on disk, which browsers read in ranges.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE,
    RANGE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use portico_domain::ErrorCode;

use crate::Service;
use crate::paging::PIECE_BYTES;
use crate::problem::Problem;

/// Where the console finds it.
pub(crate) const BASEMAP_PATH: &str = "/console/basemap.pmtiles";
const CONTENT_TYPE_PMTILES: HeaderValue = HeaderValue::from_static("application/vnd.pmtiles");
/// The reader in the browser notices by the ETag that the file was replaced.
const CACHING: HeaderValue = HeaderValue::from_static("public, max-age=3600");

const HEADER_BYTES: usize = 127;
const VECTOR_TILES: u8 = 1;
/// Unknown, none and gzip: what browsers can read.
const READABLE_COMPRESSIONS: Range<u8> = 0..3;

/// A PMTiles file. It is opened for every request, so that it can be replaced while the server runs.
#[derive(Debug, Clone)]
pub struct Basemap(PathBuf);

struct OpenFile {
    file: Arc<File>,
    size: u64,
    etag: String,
}

impl Basemap {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Whether there is a file that the console can draw; the error says what is wrong with it.
    pub fn check(&self) -> io::Result<()> {
        self.open().map(drop)
    }

    fn open(&self) -> io::Result<OpenFile> {
        let metadata = std::fs::metadata(&self.0)?;
        // Opening a pipe would wait for its writer.
        if !metadata.is_file() {
            return Err(io::Error::other("is no file"));
        }
        let file = File::open(&self.0)?;
        let metadata = file.metadata()?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)
            .map_err(|_| io::Error::other("is no PMTiles archive of version 3"))?;
        check_header(&header, metadata.len()).map_err(io::Error::other)?;
        Ok(OpenFile { etag: etag(&metadata), size: metadata.len(), file: Arc::new(file) })
    }
}

/// Its layout: <https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md>
fn check_header(header: &[u8; HEADER_BYTES], size: u64) -> Result<(), &'static str> {
    if header[..8] != *b"PMTiles\x03" {
        return Err("is no PMTiles archive of version 3");
    }
    let number = |at: usize| header[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    // Root directory, metadata, leaf directories and tiles.
    let sections = [8, 24, 40, 56].map(|at| number(at).checked_add(number(at + 8)));
    if sections.iter().any(|end| end.is_none_or(|end| end > size)) {
        return Err("is a PMTiles archive that was cut short");
    }
    if header[99] != VECTOR_TILES {
        return Err("is a PMTiles archive without vector tiles");
    }
    if ![header[97], header[98]].iter().all(|used| READABLE_COMPRESSIONS.contains(used)) {
        return Err("is a PMTiles archive with a compression that browsers cannot read: it must be gzip");
    }
    Ok(())
}

/// Changes when the file is replaced, and is the same on every replica with a copy that kept its time.
fn etag(metadata: &Metadata) -> String {
    format!("\"{:x}-{:x}.{:x}\"", metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

/// What to send of a file.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Bytes(Range<u64>),
    Unsatisfiable,
}

impl Part {
    /// Several ranges, other units and invalid headers are ignored (RFC 9110, 14.2), and so is a range of another
    /// version of the file.
    fn requested(method: &Method, headers: &HeaderMap, size: u64, etag: &str) -> Self {
        let is_of_this_version = headers.get(IF_RANGE).is_none_or(|known| known == etag);
        if method != Method::GET || !is_of_this_version {
            return Self::Whole;
        }
        let range = headers.get(RANGE).and_then(|range| range.to_str().ok());
        range.and_then(|range| Self::parse(range, size)).unwrap_or(Self::Whole)
    }

    fn parse(range: &str, size: u64) -> Option<Self> {
        let (unit, range) = range.split_once('=')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (first, last) = range.trim().split_once('-')?;
        let bytes = match (digits(first), digits(last)) {
            (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
            (Some(first), None) if last.is_empty() => first..size,
            (None, Some(count)) if first.is_empty() => size.saturating_sub(count)..size,
            _ => return None,
        };
        Some(if bytes.is_empty() { Self::Unsatisfiable } else { Self::Bytes(bytes) })
    }
}

/// A number that is too large is beyond every file.
fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

pub(crate) async fn serve(
    State(service): State<Arc<Service>>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let basemap = service.basemap.clone();
    match tokio::task::spawn_blocking(move || basemap.open()).await {
        Ok(Ok(open)) => respond(&open, &method, &headers),
        Ok(Err(error)) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, "the basemap cannot be served");
            }
            Problem::from(ErrorCode::NotFound).into_response()
        }
        Err(error) => Problem::internal(error.to_string()).into_response(),
    }
}

fn respond(open: &OpenFile, method: &Method, headers: &HeaderMap) -> Response {
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|known| known.to_str().ok());
    let is_known = known.flat_map(|known| known.split(',')).any(|known| known.trim() == open.etag);
    let response = Response::builder()
        .header(CONTENT_TYPE, CONTENT_TYPE_PMTILES)
        .header(ACCEPT_RANGES, "bytes")
        .header(CACHE_CONTROL, CACHING)
        .header(ETAG, &open.etag);
    let size = open.size;
    let built = match Part::requested(method, headers, size, &open.etag) {
        _ if is_known => response.status(StatusCode::NOT_MODIFIED).body(Body::empty()),
        Part::Whole => response.header(CONTENT_LENGTH, size).body(pieces(open.file.clone(), 0..size)),
        Part::Bytes(bytes) => response
            .status(StatusCode::PARTIAL_CONTENT)
            .header(CONTENT_LENGTH, bytes.end - bytes.start)
            .header(CONTENT_RANGE, format!("bytes {}-{}/{size}", bytes.start, bytes.end - 1))
            .body(pieces(open.file.clone(), bytes)),
        Part::Unsatisfiable => response
            .status(StatusCode::RANGE_NOT_SATISFIABLE)
            .header(CONTENT_RANGE, format!("bytes */{size}"))
            .body(Body::empty()),
    };
    built.unwrap_or_else(|error| Problem::internal(error.to_string()).into_response())
}

/// The next piece is read when the client has taken the one before. A file that is cut meanwhile breaks the connection.
fn pieces(file: Arc<File>, bytes: Range<u64>) -> Body {
    Body::from_stream(stream::try_unfold((file, bytes), async |(file, bytes)| {
        if bytes.is_empty() {
            return Ok(None);
        }
        let piece = bytes.start..bytes.end.min(bytes.start + PIECE_BYTES as u64);
        let rest = piece.end..bytes.end;
        let reading = tokio::task::spawn_blocking(move || read(&file, piece).map(|piece| (piece, file)));
        let (piece, file) = reading.await.map_err(io::Error::other)??;
        Ok::<_, io::Error>(Some((piece, (file, rest))))
    }))
}

fn read(file: &File, bytes: Range<u64>) -> io::Result<Bytes> {
    let mut piece = vec![0; usize::try_from(bytes.end - bytes.start).map_err(io::Error::other)?];
    file.read_exact_at(&mut piece, bytes.start)?;
    Ok(piece.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn requested(method: &Method, range: &str, if_range: Option<&'static str>) -> Part {
        let mut headers = HeaderMap::from_iter([(RANGE, HeaderValue::try_from(range).unwrap())]);
        headers.extend(if_range.map(|etag| (IF_RANGE, HeaderValue::from_static(etag))));
        Part::requested(method, &headers, 1000, "\"v1\"")
    }

    #[test]
    fn a_range_is_cut_to_the_file() {
        let of = |range| requested(&Method::GET, range, None);
        assert_eq!(of("bytes=0-0"), Part::Bytes(0..1));
        assert_eq!(of("bytes=10-19"), Part::Bytes(10..20));
        assert_eq!(of("bytes=990-"), Part::Bytes(990..1000));
        assert_eq!(of("bytes=990-5000"), Part::Bytes(990..1000));
        assert_eq!(of("bytes=0-99999999999999999999999999"), Part::Bytes(0..1000));
        assert_eq!(of("bytes=-10"), Part::Bytes(990..1000));
        assert_eq!(of("BYTES=-5000"), Part::Bytes(0..1000));
        for beyond in ["bytes=1000-", "bytes=1000-2000", "bytes=-0", "bytes=99999999999999999999999999-"] {
            assert_eq!(of(beyond), Part::Unsatisfiable, "{beyond}");
        }
    }

    #[test]
    fn other_ranges_are_ignored() {
        for ignored in
            ["bytes=5-4", "bytes=0-1,5-6", "bytes=-", "bytes=+1-2", "bytes=a-b", "lines=0-1", "bytes", ""]
        {
            assert_eq!(requested(&Method::GET, ignored, None), Part::Whole, "{ignored}");
        }
        assert_eq!(requested(&Method::HEAD, "bytes=0-1", None), Part::Whole);
    }

    #[test]
    fn a_range_of_another_version_is_ignored() {
        assert_eq!(requested(&Method::GET, "bytes=0-1", Some("\"v1\"")), Part::Bytes(0..2));
        for other in ["\"v0\"", "W/\"v1\"", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(requested(&Method::GET, "bytes=0-1", Some(other)), Part::Whole, "{other}");
        }
    }

    #[test]
    fn only_archives_of_vector_tiles_are_taken() {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(b"PMTiles\x03");
        header[97..100].copy_from_slice(&[2, 2, VECTOR_TILES]);
        (header[8], header[16]) = (127, 3);
        assert_eq!(check_header(&header, 130), Ok(()));
        assert!(check_header(&header, 129).unwrap_err().contains("cut short"));
        let with = |at: usize, byte: u8| {
            let mut changed = header;
            changed[at] = byte;
            check_header(&changed, 130).unwrap_err()
        };
        assert!(with(0, b'p').contains("version 3") && with(7, 2).contains("version 3"));
        assert!(with(23, 255).contains("cut short"));
        assert!(with(99, 2).contains("vector tiles"));
        assert!(with(97, 3).contains("gzip") && with(98, 4).contains("gzip"));
    }

    proptest! {
        #[test]
        fn any_header_is_judged_without_a_panic(
            bytes in proptest::collection::vec(any::<u8>(), HEADER_BYTES), size: u64,
        ) {
            let mut header: [u8; HEADER_BYTES] = bytes.try_into().unwrap();
            prop_assert!(check_header(&header, size).is_err());
            header[..8].copy_from_slice(b"PMTiles\x03");
            header[97..100].copy_from_slice(&[2, 2, VECTOR_TILES]);
            let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
            let fits = [8, 24, 40, 56].iter().all(|at| {
                u128::from(number(*at)) + u128::from(number(at + 8)) <= u128::from(size)
            });
            prop_assert_eq!(check_header(&header, size).is_ok(), fits);
        }

        #[test]
        fn a_whole_archive_is_taken_and_a_shorter_one_is_not(ends in proptest::array::uniform4(0..1_u64 << 60), cut: u64) {
            let mut header = [0; HEADER_BYTES];
            header[..8].copy_from_slice(b"PMTiles\x03");
            header[97..100].copy_from_slice(&[2, 2, VECTOR_TILES]);
            for (at, end) in [8, 24, 40, 56].into_iter().zip(ends) {
                header[at..at + 8].copy_from_slice(&(end / 2).to_le_bytes());
                header[at + 8..at + 16].copy_from_slice(&(end - end / 2).to_le_bytes());
            }
            let size = ends.into_iter().max().unwrap();
            prop_assert_eq!(check_header(&header, size), Ok(()));
            if size > 0 {
                prop_assert!(check_header(&header, cut % size).is_err());
            }
        }
    }
}
