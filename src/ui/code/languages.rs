//! The tables: what each language writes its comments, strings and keywords with.

/// How a language's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words, strings, comments.
    Code,
    /// Keys before `:` or `=`.
    Keyed,
    /// Tags in angle brackets.
    Markup,
    /// Whole lines by their first character.
    Diff,
}

/// One language.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) kind: Kind,
    /// Names in the info string of a fence, separated by spaces.
    names: &'static str,
    /// Keywords, separated by spaces.
    keywords: &'static str,
    any_case: bool,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// Quotes of strings that end with the line.
    pub(super) quotes: &'static str,
    /// Quotes of strings that go over lines.
    pub(super) long_quotes: &'static [&'static str],
}

impl Language {
    pub(super) fn has_keyword(&self, word: &str) -> bool {
        self.keywords
            .split(' ')
            .any(|known| known == word || (self.any_case && known.eq_ignore_ascii_case(word)))
    }
}

/// The language that an info string such as `rust,no_run` or `{.python}` names.
pub(super) fn find(info: &str) -> Option<&'static Language> {
    let name = info
        .trim_start_matches(['{', '.', ' '])
        .split([' ', ',', '{', '}', ':', '\t'])
        .next()
        .filter(|name| !name.is_empty() && name.len() < 24)?
        .to_ascii_lowercase();
    LANGUAGES.iter().find(|language| language.names.split(' ').any(|known| known == name))
}

/// Words that stand for values nearly everywhere.
pub(super) fn is_constant(word: &str) -> bool {
    matches!(
        word,
        "true"
            | "false"
            | "null"
            | "nil"
            | "None"
            | "True"
            | "False"
            | "NULL"
            | "undefined"
            | "NaN"
    )
}

const C_BLOCK: Option<(&str, &str)> = Some(("/*", "*/"));

const PLAIN: Language = Language {
    kind: Kind::Code,
    names: "",
    keywords: "",
    any_case: false,
    line_comments: &[],
    block_comment: None,
    quotes: "\"",
    long_quotes: &[],
};

const C_LIKE: Language =
    Language { line_comments: &["//"], block_comment: C_BLOCK, quotes: "\"'", ..PLAIN };

const HASHED: Language = Language { line_comments: &["#"], quotes: "\"'", ..PLAIN };

static LANGUAGES: &[Language] = &[
    Language {
        names: "rust rs",
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl \
                   in let loop match mod move mut pub ref return self Self static struct super \
                   trait type unsafe use where while bool char str String u8 u16 u32 u64 u128 \
                   usize i8 i16 i32 i64 i128 isize f32 f64 Option Result Vec Some Ok Err Box",
        quotes: "\"",
        ..C_LIKE
    },
    Language {
        names: "python py python3 pycon ipython",
        keywords: "and as assert async await break case class continue def del elif else except \
                   finally for from global if import in is lambda match nonlocal not or pass raise \
                   return try while with yield self int str float bool list dict set tuple",
        long_quotes: &["\"\"\"", "'''"],
        ..HASHED
    },
    Language {
        names: "javascript js jsx typescript ts tsx mjs cjs node",
        keywords: "abstract any as async await boolean break case catch class const continue \
                   debugger declare default delete do else enum export extends finally for from \
                   function get if implements import in instanceof interface keyof let namespace \
                   new number of private protected public readonly return set static string super \
                   switch this throw try type typeof unknown var void while yield",
        long_quotes: &["`"],
        ..C_LIKE
    },
    Language {
        names: "go golang",
        keywords: "break case chan const continue default defer else fallthrough for func go goto \
                   if import interface map package range return select struct switch type var \
                   string int int64 int32 uint uint64 byte rune error bool float64 any make append \
                   len",
        long_quotes: &["`"],
        ..C_LIKE
    },
    Language {
        names: "java kotlin kt scala groovy swift dart csharp cs c#",
        keywords: "abstract as assert boolean break byte case catch char class const continue \
                   data default do double else enum extends final finally float for fun func get \
                   guard if implements import in init instanceof int interface internal is lateinit \
                   let long namespace new object open out override package private protected public \
                   record return sealed set short static string struct super switch this throw \
                   throws try typealias using val var virtual void volatile when where while yield",
        long_quotes: &["\"\"\""],
        ..C_LIKE
    },
    Language {
        names: "c h cpp c++ cc cxx hpp objc cuda glsl proto protobuf",
        keywords: "auto bool break case catch char class const constexpr continue decltype default \
                   delete do double else enum explicit extern float for friend goto if inline int \
                   long message namespace new noexcept nullptr operator override private protected \
                   public register repeated return service short signed sizeof static struct switch \
                   template this throw try typedef typename union unsigned using virtual void \
                   volatile while #include #define #if #ifdef #ifndef #endif",
        ..C_LIKE
    },
    Language {
        names: "ruby rb elixir ex perl pl r julia jl",
        keywords: "alias and begin break case class def defmodule defp do else elsif end ensure \
                   fn for function if import in module my next not or package redo rescue return \
                   self sub super then undef unless until use when while yield",
        ..HASHED
    },
    Language {
        names: "php",
        keywords: "abstract and array as break case catch class const continue declare default do \
                   echo else elseif extends final finally fn for foreach function global if \
                   implements include interface match namespace new or private protected public \
                   readonly require return static switch throw trait try use var while",
        line_comments: &["//", "#"],
        ..C_LIKE
    },
    Language {
        names: "lua",
        keywords: "and break do else elseif end for function goto if in local not or repeat return \
                   then until while",
        line_comments: &["--"],
        block_comment: Some(("--[[", "]]")),
        quotes: "\"'",
        ..PLAIN
    },
    Language {
        names: "sh bash shell zsh fish console shell-session ps1 powershell dockerfile docker make \
                makefile",
        keywords: "if then else elif fi for in do done while until case esac function return local \
                   export set unset source alias sudo cd echo exit trap readonly declare FROM RUN \
                   COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE USER",
        ..HASHED
    },
    Language {
        names: "sql postgres postgresql mysql sqlite plsql",
        keywords: "add all alter and as asc begin between by case check column commit constraint \
                   create cross default delete desc distinct drop else end exists explain foreign \
                   from full group having if in index inner insert into is join key left like limit \
                   not null offset on or order outer primary references returning right rollback \
                   select set table then transaction union unique update using values view when \
                   where with int integer text varchar timestamp boolean",
        any_case: true,
        line_comments: &["--"],
        block_comment: C_BLOCK,
        quotes: "'\"",
        ..PLAIN
    },
    Language { kind: Kind::Keyed, names: "yaml yml", ..HASHED },
    Language {
        kind: Kind::Keyed,
        names: "toml ini conf cfg properties env dotenv hcl terraform tf",
        long_quotes: &["\"\"\"", "'''"],
        ..HASHED
    },
    Language {
        kind: Kind::Keyed,
        names: "json jsonc json5 jsonl ndjson",
        line_comments: &["//"],
        ..PLAIN
    },
    Language {
        kind: Kind::Markup,
        names: "html xml svg vue xhtml rss xsl",
        block_comment: Some(("<!--", "-->")),
        ..PLAIN
    },
    Language {
        names: "css scss less",
        keywords: "@media @import @use @include @mixin important from to",
        ..C_LIKE
    },
    Language {
        names: "graphql gql",
        keywords: "query mutation subscription fragment on type input enum interface union scalar \
                   schema extend implements directive",
        ..HASHED
    },
    Language { kind: Kind::Diff, names: "diff patch", ..PLAIN },
];
