//! Pieces, pages and streams of lists.

use super::*;

/// A list of these texts. Records how many items each read asks for.
fn list(texts: Vec<String>) -> (Fetch<String>, Arc<std::sync::Mutex<Vec<usize>>>) {
    let reads = Arc::new(std::sync::Mutex::new(Vec::new()));
    let record = reads.clone();
    let fetch: Fetch<String> = Arc::new(move |after, limit| {
        record.lock().unwrap().push(limit);
        let begin = after.map_or(0, |after| usize::try_from(after.seq).unwrap());
        let end = (begin + limit).min(texts.len());
        let seq = i64::try_from(end).unwrap();
        let next = (end < texts.len()).then_some(Cursor { key: seq, seq });
        let page = Page { items: texts[begin..end].to_vec(), next, stable_up_to: None };
        Box::pin(async { Ok(page) })
    });
    (fetch, reads)
}

async fn streamed(fetch: Fetch<String>) -> (String, usize) {
    let first = Piece::read(&fetch, None, FIRST_READ_ITEMS).await.unwrap();
    let mut longest = first.bytes.len();
    let mut all = b"[".to_vec();
    all.extend_from_slice(&first.bytes);
    let mut rest = std::pin::pin!(remaining_items(fetch, &first));
    while let Some(piece) = rest.next().await {
        let piece = piece.unwrap();
        longest = longest.max(piece.len());
        all.extend_from_slice(&piece);
    }
    (String::from_utf8(all).unwrap(), longest)
}

#[tokio::test]
async fn pieces_are_bounded_by_bytes() {
    // Short items, then long ones: the first guess is wrong.
    let texts: Vec<String> =
        (0..3000).map(|number| "x".repeat(if number < 1000 { 10 } else { 5000 })).collect();
    let (fetch, reads) = list(texts.clone());
    let (all, longest) = streamed(fetch).await;
    assert_eq!(serde_json::from_str::<Vec<String>>(&all).unwrap(), texts);
    assert!(longest <= MAX_PIECE_BYTES + 2, "{longest}");
    assert!(reads.lock().unwrap().iter().all(|&count| count <= MAX_READ_ITEMS));
}

/// Rows 1 to 100; those after `settled` may still get neighbours.
fn unsettled(settled: Option<i64>) -> Fetch<i64> {
    Arc::new(move |after, limit| {
        let begin = after.map_or(0, |after| after.seq);
        let end = (begin + i64::try_from(limit).unwrap()).min(100);
        let next = (end < 100).then_some(Cursor { key: end, seq: end });
        Box::pin(async move { Ok(Page { items: (begin + 1..=end).collect(), next, stable_up_to: settled }) })
    })
}

async fn cursor_after(fetch: &Fetch<i64>, after: Option<i64>, limit: usize) -> Option<i64> {
    let after = after.map(|seq| Cursor { key: seq, seq });
    let mut page = Piece::read(fetch, after, 4).await.unwrap();
    page.extend(fetch, limit).await.unwrap();
    assert_eq!(page.items, limit.min(100), "what is not settled is shown");
    page.next_to_follow(after).map(|next| next.seq)
}

/// A page is read in several pieces, each of which may say that an earlier row can still appear.
#[tokio::test]
async fn cursor_does_not_pass_rows_that_may_still_appear() {
    assert_eq!(cursor_after(&unsettled(None), None, 10).await, Some(10));
    assert_eq!(cursor_after(&unsettled(Some(50)), None, 10).await, Some(10));
    for settled in [2, 4, 7, 10] {
        let cursor = cursor_after(&unsettled(Some(settled)), None, 10).await;
        assert_eq!(cursor, Some(settled), "the rows after it are read again");
    }
    assert_eq!(cursor_after(&unsettled(Some(2)), Some(5), 10).await, Some(5), "never back");
    assert_eq!(cursor_after(&unsettled(Some(2)), None, 100).await, None, "the last page");
}

#[tokio::test]
async fn pieces_without_items_leave_no_comma() {
    // Of 300 rows only every hundredth may be seen.
    let fetch: Fetch<u32> = Arc::new(|after, limit| {
        let begin = after.map_or(0, |after| u32::try_from(after.seq).unwrap());
        let end = (begin + u32::try_from(limit.min(10)).unwrap()).min(300);
        let seq = i64::from(end);
        let next = (end < 300).then_some(Cursor { key: seq, seq });
        let items = (begin..end).filter(|row| row % 100 == 99).collect();
        Box::pin(async move { Ok(Page { items, next, stable_up_to: None }) })
    });
    let (mut page, expected) = (Piece::read(&fetch, None, 2).await.unwrap(), vec![99, 199, 299]);
    page.extend(&fetch, 3).await.unwrap();
    let text = String::from_utf8([b"[", &page.bytes[..], b"]"].concat()).unwrap();
    assert_eq!(serde_json::from_str::<Vec<u32>>(&text).unwrap(), expected);
    let first = Piece::read(&fetch, None, FIRST_READ_ITEMS).await.unwrap();
    let mut all = b"[".to_vec();
    let mut rest = std::pin::pin!(remaining_items(fetch, &first));
    while let Some(piece) = rest.next().await {
        all.extend_from_slice(&piece.unwrap());
    }
    assert_eq!(serde_json::from_slice::<Vec<u32>>(&all).unwrap(), expected);
}

#[tokio::test]
async fn item_longer_than_a_piece_is_sent_alone() {
    let texts = vec!["x".repeat(3 * MAX_PIECE_BYTES); 3];
    let (fetch, _) = list(texts.clone());
    let (all, longest) = streamed(fetch).await;
    assert_eq!(serde_json::from_str::<Vec<String>>(&all).unwrap(), texts);
    assert!(longest < 4 * MAX_PIECE_BYTES, "{longest}");
}

#[tokio::test]
async fn page_has_its_limit_unless_it_is_too_long() {
    let page = async |length: usize| {
        let (fetch, _) = list(vec!["x".repeat(length); 2000]);
        let mut piece = Piece::read(&fetch, None, FIRST_PAGE_READ_ITEMS).await.unwrap();
        piece.extend(&fetch, 1000).await.unwrap();
        let items: Vec<String> = serde_json::from_slice(&[&b"["[..], &piece.bytes, b"]"].concat()).unwrap();
        assert_eq!(items.len(), piece.items);
        assert_eq!(piece.next.map(|next| next.seq), i64::try_from(items.len()).ok());
        (piece.items, piece.bytes.len())
    };
    assert_eq!(page(10).await.0, 1000);
    let (items, bytes) = page(10_000).await;
    assert!((100..=120).contains(&items) && bytes < MAX_PAGE_BYTES + MAX_PIECE_BYTES, "{items}, {bytes}");
}
