//! The street map that the console reads in ranges.

use reqwest::Method;

use crate::support::{App, Engine, Options, run, street_map};

const PATH: &str = "/console/basemap.pmtiles";

async fn with_file(bytes: &[u8]) -> (App, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("streets.pmtiles");
    std::fs::write(&file, bytes).unwrap();
    let app = Options { basemap: Some(file), ..Options::new(Engine::Sqlite) }.start().await;
    (app, folder)
}

#[test]
fn a_browser_reads_it_in_ranges() {
    run(async {
        let bytes = street_map(200_000);
        let (app, _folder) = with_file(&bytes).await;
        let whole = app.get(PATH).await.status(200);
        assert!(whole.body == bytes, "the whole file, in pieces");
        assert_eq!(whole.header("accept-ranges"), "bytes");
        assert_eq!(whole.header("content-type"), "application/vnd.pmtiles");
        assert_eq!(whole.header("content-length"), "200000");
        let etag = whole.header("etag").to_owned();
        assert!(etag.starts_with('"'), "a strong one: {etag}");

        for (range, expected, content_range) in [
            ("bytes=0-126", 0..127, "bytes 0-126/200000"),
            ("bytes=1000-150000", 1000..150_001, "bytes 1000-150000/200000"),
            ("bytes=-5", 199_995..200_000, "bytes 199995-199999/200000"),
            ("bytes=199999-300000", 199_999..200_000, "bytes 199999-199999/200000"),
        ] {
            let part = app.to_get(PATH).header("range", range).send().await.status(206);
            assert!(part.body == bytes[expected.clone()], "{range}");
            assert_eq!(part.header("content-range"), content_range);
            assert_eq!(part.header("content-length"), expected.len().to_string());
            assert_eq!(part.header("etag"), etag);
        }
        let beyond = app.to_get(PATH).header("range", "bytes=200000-").send().await.status(416);
        assert_eq!((beyond.header("content-range"), beyond.body.len()), ("bytes */200000", 0));

        let head = app.request(Method::HEAD, PATH).header("range", "bytes=0-1").send().await.status(200);
        assert_eq!((head.header("content-length"), head.header("etag")), ("200000", etag.as_str()));
        app.to_get(PATH).header("if-none-match", &etag).send().await.status(304);
        app.post(PATH, serde_json::json!({})).await.problem(405);
        let config = app.get("/console/config.json").await.json(200);
        assert_eq!(config["basemap"], PATH);
    });
}

#[test]
fn it_is_replaced_while_the_server_runs() {
    run(async {
        let (app, folder) = with_file(&street_map(1000)).await;
        let former = app.get(PATH).await.status(200).header("etag").to_owned();
        let next = folder.path().join("next");
        std::fs::write(&next, street_map(2000)).unwrap();
        std::fs::rename(&next, folder.path().join("streets.pmtiles")).unwrap();

        let part =
            |etag: String| app.to_get(PATH).header("range", "bytes=0-9").header("if-range", &etag).send();
        let replaced = part(former.clone()).await.status(200);
        assert_eq!(replaced.body.len(), 2000, "parts of two files are never mixed");
        let etag = replaced.header("etag").to_owned();
        assert_ne!(etag, former);
        assert_eq!(part(etag).await.status(206).body.len(), 10);
    });
}

#[test]
fn nothing_else_can_be_read_by_it() {
    run(async {
        let (app, _folder) = with_file(&street_map(500)).await;
        for path in [
            "/console/basemap.pmtiles/../encryption.key",
            "/console/%2e%2e/basemap.pmtiles",
            "/console/encryption.key",
        ] {
            let answer = app.get(path).await;
            assert!(!answer.header("content-type").contains("pmtiles"), "{path}");
        }
    });
}
