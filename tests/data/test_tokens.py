"""The one tokeniser: English as scikit-learn cuts it, every other script by its own rules."""

import pytest
from sklearn.feature_extraction.text import CountVectorizer

from assay.data.stop_words import LISTS
from assay.data.tokens import cut, fold, stop_list, terms_of
from assay.errors import ParameterError

ENGLISH = [
    "The quick brown-fox; jumped over 2 lazy_dogs at 10:30!",
    "Don't e-mail a@b.co: it's 50% off... I O U",
    "naïve Façade, Øresund & Ærø, año 2020",
    "",
]


@pytest.mark.parametrize("text", ENGLISH)
@pytest.mark.parametrize("stop_words", [None, "english"])
def test_texts_of_latin_letters_are_cut_as_scikit_learn_cuts_them(text, stop_words):
    assert terms_of(stop_words)(text) == CountVectorizer(stop_words=stop_words).build_analyzer()(text)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("東京都庁", ["東京", "京都", "都庁"]),  # pairs of characters where no blanks part words
        ("字", ["字"]),
        ("iPhone手机很好", ["iphone", "手机", "机很", "很好"]),
        ("データ、分析", ["デー", "ータ", "分析"]),
        ("ที่นี่", ["ที่นี่"]),  # marks stay on their character: two characters, one pair
        ("한국어 문장", ["한국어", "문장"]),  # Korean has blanks
        ("हिन्दी में", ["हिन्दी", "में"]),  # vowels that are marks do not end a word
        ("كِتَاب", ["كِتَاب"]),
        ("Ελληνικά ΣΟΦΟΣ σοφός", ["ελληνικά", "σοφοσ", "σοφόσ"]),
        ("привет, МИР", ["привет", "мир"]),
    ],
)
def test_each_script_is_cut_by_its_own_rules(text, terms):
    assert cut(text) == terms


def test_ways_of_writing_the_same_letters_are_one_term():
    assert cut("e\u0301tude") == cut("\u00e9tude") == ["étude"]
    assert cut("ＦＵＬＬ ｗｉｄｔｈ") == ["full", "width"]
    assert cut("ﬁne") == ["fine"] and cut("co\u00adoperate") == ["cooperate"]
    assert cut("Straße STRASSE") == ["strasse", "strasse"]


def test_folding_twice_changes_nothing():
    for text in ["İstanbul", "ǅ", "ﬃ", "Ⅷ", "ϓ", *ENGLISH]:
        assert fold(fold(text)) == fold(text)


def test_single_letters_and_marks_alone_are_no_terms():
    assert cut("a b c d\u0301 1 \u0301\u0302 --") == []


def test_stop_words_are_folded_as_texts_are():
    assert terms_of(["ÉTUDE", "東京都", "don't"])("e\u0301tude 東京都 don't stay") == ["stay"]
    for language, words in LISTS.items():
        assert not terms_of(language)(words.upper())  # each list leaves itself out


def test_unknown_lists_and_words_that_are_none_are_refused():
    with pytest.raises(ParameterError, match=r'stop_words is one of "english", "dutch", .*, or None; got \'martian\''):
        terms_of("martian")
    with pytest.raises(ParameterError, match="not all of them are text"):
        stop_list(["a", 1])
