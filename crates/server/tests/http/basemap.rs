//! The street map that the console reads in ranges.

use std::path::Path;

use reqwest::Method;

use crate::support::{App, Engine, Options, run};

const PATH: &str = "/console/basemap.pmtiles";

/// An archive of the given length: a header, and bytes that tell where they are.
fn archive(length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
    bytes[..127].fill(0);
    bytes[..8].copy_from_slice(b"PMTiles\x03");
    bytes[97..100].copy_from_slice(&[2, 2, 1]);
    bytes
}

async fn with_file(bytes: &[u8]) -> (App, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("streets.pmtiles");
    std::fs::write(&file, bytes).unwrap();
    let app = Options::new(Engine::Sqlite).flags(&["--basemap", text(&file)]).start().await;
    (app, folder)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_browser_reads_it_in_ranges() {
    run(async {
        let bytes = archive(200_000);
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
        let (app, folder) = with_file(&archive(1000)).await;
        let former = app.get(PATH).await.status(200).header("etag").to_owned();
        let next = folder.path().join("next");
        std::fs::write(&next, archive(2000)).unwrap();
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
fn a_file_in_the_data_folder_is_found_without_a_restart() {
    run(async {
        let app = Options::new(Engine::Sqlite).start().await;
        app.get(PATH).await.problem(404);
        assert!(app.get("/console/config.json").await.json(200).get("basemap").is_none());
        let file = app.data.join("basemap.pmtiles");
        std::fs::write(&file, archive(500)).unwrap();
        assert_eq!(app.get("/console/config.json").await.json(200)["basemap"], PATH);
        app.get(PATH).await.status(200);
        // What nobody can draw is not offered.
        std::fs::write(&file, "streets").unwrap();
        app.get(PATH).await.problem(404);
        assert!(app.get("/console/config.json").await.json(200).get("basemap").is_none());
        app.logs("the basemap cannot be served").await;
    });
}

#[test]
fn nothing_else_can_be_read_by_it() {
    run(async {
        let (app, _folder) = with_file(&archive(500)).await;
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

#[test]
fn a_file_that_is_no_basemap_is_refused_at_start() {
    run(async {
        let app = App::shared(Engine::Sqlite);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("streets.pmtiles");
        let refusal =
            |path: &Path| Options::new(Engine::Sqlite).flags(&["--basemap", text(path)]).refused_on(app);
        let missing = refusal(&file);
        assert!(missing.contains("--basemap") && missing.contains("No such file"), "{missing}");
        let mut png = archive(200);
        png[99] = 2;
        let mut cut = archive(200);
        cut[56] = 255;
        for (bytes, why) in
            [(b"<html>404</html>".to_vec(), "version 3"), (png, "vector tiles"), (cut, "cut short")]
        {
            std::fs::write(&file, bytes).unwrap();
            let refused = refusal(&file);
            assert!(refused.contains("--basemap") && refused.contains(why), "{refused}");
        }
        let folder_as_file = refusal(folder.path());
        assert!(folder_as_file.contains("is no file"), "{folder_as_file}");
        let by_file = Options::new(Engine::Sqlite).settings(&format!("basemap = \"{}\"", file.display()));
        assert!(by_file.refused_on(app).contains("cut short"));
        let by_environment = Options::new(Engine::Sqlite).env("PORTICO_BASEMAP", text(&file));
        assert!(by_environment.refused_on(app).contains("cut short"));
    });
}
