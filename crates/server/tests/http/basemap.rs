//! Where the street map is found, and what is refused as one.

use std::path::Path;

use crate::support::{App, Engine, Options, run, street_map};

const PATH: &str = "/console/basemap.pmtiles";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_file_in_the_data_folder_is_found_without_a_restart() {
    run(async {
        let app = Options::new(Engine::Sqlite).start().await;
        app.get(PATH).await.problem(404);
        assert!(app.get("/console/config.json").await.json(200).get("basemap").is_none());
        let file = app.data.join("basemap.pmtiles");
        std::fs::write(&file, street_map(500)).unwrap();
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
fn a_file_that_is_no_basemap_is_refused_at_start() {
    run(async {
        let app = App::shared(Engine::Sqlite);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("streets.pmtiles");
        let refusal =
            |path: &Path| Options::new(Engine::Sqlite).flags(&["--basemap", text(path)]).refused_on(app);
        let missing = refusal(&file);
        assert!(missing.contains("--basemap") && missing.contains("No such file"), "{missing}");
        let mut png = street_map(200);
        png[99] = 2;
        let mut cut = street_map(200);
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
