"""What is read from LaTeX: theorems of three kinds of preamble, what TeX does not read, files within files, what is unreadable."""

import pytest

from theoryck.papers.audit import audit
from theoryck.papers.reading import FILLER, argument, option, readable
from theoryck.papers.scanning import MOST_LETTERS

# Preambles as papers have them.  Each paper below uses all of its theorems, in order, and each is to be found with its title.
AMSART = (
    r"""\documentclass[11pt,reqno]{amsart}
\usepackage{amsmath,amssymb,amsthm}
\usepackage[colorlinks]{hyperref}
\usepackage[capitalize]{cleveref}
\theoremstyle{plain}
\newtheorem{theorem}{Theorem}[section]
\newtheorem{lem}[theorem]{Lemma}
\newtheorem{prop}[theorem]{Proposition}
\newtheorem*{thm*}{Theorem}
\newtheorem{thmA}{Theorem}\renewcommand{\thethmA}{\Alph{thmA}}
\theoremstyle{definition}
\newtheorem{defn}[theorem]{Definition}
\newtheorem{conj}[theorem]{Conjecture}
\theoremstyle{remark}
\newtheorem{rem}[theorem]{Remark}
\newtheorem*{ex}{Example}
\crefname{lem}{lemma}{lemmas}
\numberwithin{equation}{section}
\newcommand{\E}{\mathbb{E}}
\def\bt{\begin{theorem}}
\def\et{\end{theorem}}
""",
    ["Theorem", "Lemma", "Proposition", "Theorem", "Theorem", "Conjecture", "Theorem"],
    r"""\begin{theorem}a\end{theorem} \begin{lem}\label[lem]{l}b\end{lem} \begin{prop}c\end{prop} \begin{thm*}d\end{thm*}
\begin{thmA}e\end{thmA} \begin{defn}no\end{defn} \begin{conj}f\end{conj} \begin{rem}no\end{rem} \begin{ex}no\end{ex} \bt g \et""",
)
THMTOOLS = (
    r"""\documentclass{article}
\usepackage{amsthm}
\usepackage{thmtools,thm-restate}
\usepackage[nameinlink]{cleveref}
\declaretheoremstyle[headfont=\bfseries, bodyfont=\itshape, spaceabove=6pt]{mine}
\declaretheorem[style=mine, numberwithin=section]{theorem}
\declaretheorem[style=mine, sibling=theorem, name={Main Lemma}, refname={lemma,lemmas}]{lemma}
\declaretheorem[sibling=theorem]{proposition,corollary}
\declaretheorem[title=Open Conjecture, style=mine]{oc}
\declaretheorem[style=definition, name=Assumption]{assumption}
\declaretheorem[style=remark]{remark}
""",
    ["Theorem", "Main Lemma", "Proposition", "Corollary", "Open Conjecture", "Theorem"],
    r"""\begin{theorem}[name=Big, label=thm:big]a\end{theorem} \begin{lemma}[Small]b\end{lemma}
\begin{proposition}c\end{proposition} \begin{corollary}d\end{corollary} \begin{oc}e\end{oc}
\begin{assumption}no\end{assumption} \begin{remark}no\end{remark}
\begin{restatable}[Again]{theorem}{mainthm}\label{thm:again}f\end{restatable} \mainthm*""",
)
REVTEX = (
    r"""\documentclass[aps,prx,twocolumn,superscriptaddress,nofootinbib]{revtex4-2}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amsthm,graphicx,braket}
\usepackage{hyperref}
\newtheorem{theorem}{Theorem}
\newtheorem{lemma}[theorem]{Lemma}
\newtheorem{claim}{Claim}
\newtheorem{definition}{Definition}
\newenvironment{result}[1][]{\begin{theorem}[#1]}{\end{theorem}}
\newcommand{\thm}[2]{\begin{theorem}\label{#1}#2\end{theorem}}
""",
    ["Theorem", "Lemma", "Claim", "Theorem", "Theorem", "Corollary"],
    r"""\begin{theorem}a\end{theorem} \begin{lemma}b\end{lemma} \begin{claim}c\end{claim} \begin{definition}no\end{definition}
\begin{result}[Short]d\end{result} \thm{t}{e} \begin{corollary}of a class that defines it\end{corollary}""",
)


def written(folder, preamble, body, **files):
    for name, text in {"paper.tex": f"{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n", **files}.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return audit(folder / "paper.tex")


def titles(found):
    return [theorem.title for theorem in found.theorems]


@pytest.mark.parametrize(("preamble", "wanted", "body"), [AMSART, THMTOOLS, REVTEX], ids=["amsart", "thmtools", "revtex"])
def test_every_theorem_of_a_preamble_is_found(tmp_path, preamble, wanted, body):
    found = written(tmp_path, preamble, body)
    assert titles(found) == wanted
    assert found.unread == ()


def test_notes_and_labels(tmp_path):
    found = written(tmp_path, THMTOOLS[0], THMTOOLS[2])
    assert [(theorem.note, theorem.label) for theorem in found.theorems if theorem.note] == [
        ("Big", "thm:big"),
        ("Small", ""),
        ("Again", "thm:again"),
    ]
    assert [theorem.label for theorem in written(tmp_path, REVTEX[0], REVTEX[2]).theorems if theorem.label] == ["t"]


PLAIN = r"\documentclass{article}\newtheorem{theorem}{Theorem}" + "\n"
ONE = r"\begin{theorem}a\end{theorem}"


@pytest.mark.parametrize(
    ("preamble", "wanted"),
    [
        (r"\spnewtheorem{satz}{Satz}{\bfseries}{\itshape}", ["Satz"]),
        (r"\newtcbtheorem[number within=section]{satz}{Satz}{colback=red}{th}", ["Satz"]),
        (r"\newmdtheoremenv[linecolor=red]{satz}{Satz}[section]", ["Satz"]),
        (r"\newkeytheorem{satz}[name=Satz, style=plain]", ["Satz"]),
        (r"\newtheorem{satz}{\protect\satzname}", ["satz"]),
        (r"\declaretheorem{satz}", ["Satz"]),
        (r"\newtheorem{satz}{Bemerkung}", []),
        (r"\newtheorem{satz}{D\'efinition}\newtheorem{thm}{Theorem}", []),
        (r"\NewDocumentEnvironment{satz}{o m}{\begin{lemma}}{\end{lemma}}", ["Lemma"]),
        (r"\newenvironment{satz}{\begin{quote}}{\end{quote}}", []),
        (r"\newcommand{\bsatz}{\begin{satz}} \newtheorem{satz}{Satz}", ["Satz"]),
    ],
)
def test_other_ways_to_define_a_theorem(tmp_path, preamble, wanted):
    assert titles(written(tmp_path, preamble, r"\begin{satz}{x}a\end{satz}")) == wanted


HIDDEN = [
    f"% {ONE}",
    rf"\begin{{verbatim}}{ONE}\end{{verbatim}}",
    rf"\begin{{lstlisting}}[language=TeX]{ONE}\end{{lstlisting}}",
    rf"\begin{{minted}}{{tex}}{ONE}\end{{minted}}",
    rf"\begin{{comment}}{ONE}\end{{comment}}",
    rf"\begin{{filecontents*}}{{a.tex}}{ONE}\end{{filecontents*}}",
    rf"\verb|{ONE}| \verb*+{ONE}+ \lstinline!{ONE}!",
    rf"\iffalse {ONE} \ifx\a\b {ONE} \fi {ONE} \fi",
    rf"\lstnewenvironment{{code}}{{}}{{}} \begin{{code}}{ONE}\end{{code}}",
    rf"\newcommand{{\unused}}{{{ONE}}} \def\neither#1{{{ONE}}}",
    rf"\endinput {ONE}",
    rf"\end{{document}} {ONE}",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_what_tex_does_not_read_is_not_read(tmp_path, text):
    found = written(tmp_path, PLAIN, text)
    assert (titles(found), found.unread) == ([], ())


@pytest.mark.parametrize(
    "text",
    [
        rf"100\% {ONE}",
        rf"\\% c{chr(10)}{ONE}",
        rf"\url{{a%b}} {ONE}",
        rf"\verbatiminput {ONE}",
        rf"\iffalse a \else {ONE} \fi",
        rf"$a \iff b$ {ONE}",
    ],
)
def test_what_only_looks_hidden_is_read(tmp_path, text):
    assert titles(written(tmp_path, PLAIN, text)) == ["Theorem"]


def test_places_are_lines_of_the_files_in_which_they_are(tmp_path):
    body = "% c\n\\begin{verbatim}\n\n\\end{verbatim}\n" + ONE + "\n\\input{sections/one}\n\\include{two}\n\\input three.tex\n"
    files = {
        "sections__one.tex": f"\n{ONE}\n\\subfile{{four}}",
        "sections__four.tex": ONE,
        "two.tex": ONE,
        "three.tex": f"\n\n{ONE}",
    }
    found = written(tmp_path, PLAIN, body, **files)
    places = ["paper.tex:7", "sections/one.tex:2", "sections/four.tex:1", "two.tex:1", "three.tex:3"]
    assert [str(theorem.place) for theorem in found.theorems] == places


def test_files_of_definitions_beside_the_paper_are_read(tmp_path):
    files = {"mine.sty": r"\RequirePackage{amsthm}\newtheorem{aux}{Auxiliary result}", "my.cls": r"\newtheorem{app}{Appendix fact}"}
    found = written(
        tmp_path, r"\documentclass{my}\usepackage{amsmath, mine}", r"\begin{aux}a\end{aux}\begin{app}b\end{app}", **files
    )
    assert titles(found) == ["Auxiliary result", "Appendix fact"]


def test_a_subfile_ends_itself_alone_and_import_has_its_own_folder(tmp_path):
    sub = rf"\documentclass[../paper]{{subfiles}}\begin{{document}}{ONE}\end{{document}} no"
    files = {"s__a.tex": sub, "s__b.tex": r"\subimport{deep/}{c}", "s__deep__c.tex": ONE}
    assert len(written(tmp_path, PLAIN, rf"\subfile{{s/a}} \import{{s/}}{{b}} {ONE}", **files).theorems) == 3


def test_a_name_of_a_file_may_be_a_macro(tmp_path):
    found = written(tmp_path, PLAIN + r"\newcommand{\parts}{sections}", r"\input{\parts/one}", **{"sections__one.tex": ONE})
    assert (len(found.theorems), found.unread) == (1, ())


UNREAD = {
    r"\input{none}": "paper.tex:3: there is no file none.tex",
    r"\input{\jobname-x}": r"paper.tex:3: the name of a file is computed: \jobname-x",
    r"\input{paper}": "paper.tex:3: paper.tex is read within itself",
    r"\input{data}": "paper.tex:3: data.tex cannot be read: it is no text",
    r"\begin{theorem} a": r"paper.tex:3: \begin{theorem} is never ended",
    r"\begin{verbatim} a": r"paper.tex:3: \begin{verbatim} is never ended",
    r"\theoryckclaim{a": "paper.tex:3: the brace that opens here is never closed",
    r"\begin{theorem}[a \end{theorem}": "paper.tex:3: the bracket that opens here is never closed",
    r"\def\a{\b\begin{x}}\def\b{\a\begin{x}}\a": "paper.tex:3: macros stand for one another without end",
}


@pytest.mark.parametrize("text", UNREAD)
def test_what_cannot_be_read_is_said_with_its_line(tmp_path, text):
    (tmp_path / "data.tex").write_bytes(b"a\0b")
    said = [str(each) for each in written(tmp_path, PLAIN, f"{text}\n\nmore {ONE}").unread]
    assert any(each.startswith(UNREAD[text]) for each in said), said


def test_what_stands_behind_something_unread_is_read(tmp_path):
    assert len(written(tmp_path, PLAIN, rf"{ONE} \input{{none}} {ONE}").theorems) == 2


def test_macros_that_double_end(tmp_path):
    doubles = "".join(
        rf"\def\{a}{{\{b}\{b}\label{{x}}}}" for a, b in zip("abcdefghijklmnopqrstuvw", "bcdefghijklmnopqrstuvwx", strict=True)
    )
    found = written(tmp_path, rf"{PLAIN}\def\x{{\label{{y}}}}{doubles}", rf"\a {ONE}")
    assert 2 * len(r"\b") * 2**22 > MOST_LETTERS
    [unread] = found.unread
    assert "without end" in str(unread)


def test_old_encodings_are_text(tmp_path):
    (tmp_path / "paper.tex").write_bytes(f"{PLAIN}\\begin{{document}}\u00e9 {ONE}\\end{{document}}".encode("latin-1"))
    assert len(audit(tmp_path / "paper.tex").theorems) == 1


def test_fillers_keep_every_place(tmp_path):
    text = "a % b\n\\verb|%| c \\begin{comment}\nx\n\\end{comment} d"
    body = readable(tmp_path, text).body
    assert len(body) == len(text)
    assert [place for place, letter in enumerate(body) if letter == "\n"] == [
        place for place, letter in enumerate(text) if letter == "\n"
    ]
    assert body.replace(FILLER, "").split() == ["a", "c", "d"]


def test_arguments():
    assert argument(" {a{b}\\}c} d", 0) == ("a{b}\\}c", 10)
    assert argument("\\foo d", 0) == ("\\foo", 4)
    assert option(" [a{]}b] d", 0) == ("a{]}b", 8)
    assert option("\n\n[a]", 0) == (None, 0)  # a paragraph has ended
    assert argument("", 0) == ("", 0)
