from gate.text.markdown_blocks import plain, sentences, split_blocks, words


def kinds(answer):
    return [block.kind for block in split_blocks(answer)]


def test_an_answer_falls_into_its_blocks():
    answer = (
        "# Sales\n\nThey grew.\nAs planned.\n\n- north\n- south\n  goes on\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```sql\nselect 1\n\n-- # not a heading\n```\nThe end."
    )
    found = split_blocks(answer)
    assert [block.kind for block in found] == [
        *("heading", "paragraph", "item", "item", "table", "code", "paragraph")
    ]
    assert found[1].text == "They grew.\nAs planned."
    assert (found[2].marker, found[3].text) == ("-", "south\n  goes on")
    assert found[4].text.count("\n") == 2
    assert found[5].text == "select 1\n\n-- # not a heading"


def test_a_fence_ends_only_with_as_many_of_its_own_sign():
    (code,) = split_blocks("````\n```\n~~~~\n````")
    assert code.closed
    (code,) = split_blocks("```\nx = 1\n``")
    assert not code.closed


def test_what_only_looks_like_a_list_is_text():
    assert kinds("It was founded in\n2019. It grew.") == ["paragraph"]
    assert kinds("-5 degrees") == ["paragraph"]
    assert kinds("**Bold** start") == ["paragraph"]
    assert kinds("a\n---\nb") == ["paragraph", "paragraph"]


def test_lists_are_told_apart_by_the_text_between_them():
    found = [block.group for block in split_blocks("1. a\n\n2. b\n\nThen:\n\n1. c") if block.group]
    assert found == [1, 1, 2]


def test_json_as_a_whole_is_code_and_a_citation_is_not():
    assert kinds('{"answer": "It is 5. Or 6."}') == ["code"]
    assert kinds("[1] says so.") == ["paragraph"]


def test_plain_text_has_no_code_addresses_tags_or_emphasis():
    text = "Use **`rm -rf`** as [the *book*](https://a.example/x_y) says, <b>see</b> www.b.example"
    assert words(plain(text)) == ("Use", "as", "the", "book", "says", "see")


def test_a_sentence_does_not_end_in_the_middle_of_it():
    text = "Dr. J. Smith sold 1.5 m units, e.g. in May. No. It was 2.3! “Really?” she asked. End…"
    assert sentences(text) == (
        "Dr. J. Smith sold 1.5 m units, e.g. in May.",
        "No.",
        "It was 2.3!",
        "“Really?” she asked.",
        "End…",
    )


def test_sentences_of_languages_without_blanks_end_too():
    assert sentences("销售额增长。没有下降！") == ("销售额增长。", "没有下降！")


def test_words_have_letters_only():
    assert words("In Q4 it's 12.5% of the well-known e-mail, kb-001 naïve") == (
        *("In", "it's", "of", "the", "well-known", "e-mail", "naïve"),
    )
