//! A Markdown table whose rows appear as soon as they are measured.

pub(super) struct Table<const COLUMNS: usize>;

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// Prints the head.
    pub(super) fn begin(titles: [&str; COLUMNS]) -> Self {
        println!("{}", line(titles));
        println!("|{}", "---|".repeat(COLUMNS));
        Self
    }

    /// Standard output is flushed at every line.
    #[expect(clippy::unused_self, reason = "a row without a head would be no table")]
    pub(super) fn row(&self, cells: [&str; COLUMNS]) {
        println!("{}", line(cells));
    }
}

fn line<const COLUMNS: usize>(cells: [&str; COLUMNS]) -> String {
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_cells_keep_their_columns() {
        assert_eq!(line(["**SQLite**", "", ""]), "| **SQLite** |  |  |");
    }
}
