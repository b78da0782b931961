//! The table of all actions.

/// Where a key works. [`Place::Global`] works wherever the place itself has no use for the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Everywhere.
    Global,
    /// The draft.
    Input,
    /// The side panel.
    Panel,
    /// The decision box.
    Dialog,
    /// The editor of arguments.
    Editor,
    /// A form: a server's question, or the arguments of a tool.
    Form,
    /// A page over everything: help, details.
    Page,
    /// The command palette.
    List,
    /// The wire view.
    Wire,
}

impl Place {
    /// All places, in the order of the help.
    pub const ALL: [Self; 9] = [
        Self::Global,
        Self::Input,
        Self::Dialog,
        Self::Editor,
        Self::Form,
        Self::Panel,
        Self::Page,
        Self::List,
        Self::Wire,
    ];

    /// The heading in the help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::Input => "Message",
            Self::Panel => "Side panel",
            Self::Dialog => "Decision",
            Self::Editor => "Editing arguments",
            Self::Form => "Forms and questions of servers",
            Self::Page => "Pages",
            Self::List => "Palette",
            Self::Wire => "Wire view",
        }
    }
}

/// One row of the table.
#[derive(Debug)]
pub struct Binding {
    /// The action.
    pub action: Action,
    /// Its name, as in `keys:` of the config.
    pub name: &'static str,
    /// Where it works.
    pub place: Place,
    /// Its default keys.
    pub keys: &'static [&'static str],
    /// What it does, in a few words.
    pub help: &'static str,
}

macro_rules! actions {
    ($($place:ident { $($action:ident $name:literal [$($key:literal),*] $help:literal)* })*) => {
        /// Everything a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(#[doc = $help] $action,)*)*
        }

        /// Every action, in the order in which help shows them.
        pub const TABLE: &[Binding] = &[
            $($(Binding {
                action: Action::$action,
                name: $name,
                place: Place::$place,
                keys: &[$($key),*],
                help: $help,
            },)*)*
        ];
    };
}

actions! {
    Global {
        Interrupt "interrupt" ["ctrl-c"] "cancel the turn; else clear the draft; else quit"
        Help "help" ["f1"] "keys and commands"
        Palette "palette" ["ctrl-p"] "find a command"
        TogglePanel "togglePanel" ["f2", "ctrl-b"] "show or hide servers and tools"
        FocusPanel "focusPanel" ["shift-tab"] "go to the side panel and back"
        Decision "decision" ["f3", "alt-a"] "come back to a waiting decision"
        Warnings "warnings" ["f4"] "all warnings with their advice"
        ScrollUp "scrollUp" ["pgup"] "scroll the conversation up"
        ScrollDown "scrollDown" ["pgdn"] "scroll the conversation down"
        ScrollTop "scrollTop" ["ctrl-home"] "first row of the conversation"
        ScrollBottom "scrollBottom" ["ctrl-end"] "last row, and follow from there"
        Previous "previous" ["alt-up"] "select the item before"
        Next "next" ["alt-down"] "select the item after"
        Open "open" ["ctrl-o"] "open or close the selected card"
        Fork "fork" ["alt-r"] "go on in a copy, from an earlier message"
        Copy "copy" ["ctrl-y"] "copy the selected item, or the last answer"
        Wire "wire" ["f6"] "every exchange with servers and the model"
        Exchange "exchange" ["f7", "alt-x"] "the exchange of the selected call"
        Redraw "redraw" ["ctrl-l"] "draw everything anew"
        Suspend "suspend" ["ctrl-z"] "back to the shell; `fg` returns"
    }
    Input {
        Send "send" ["enter"] "send the message"
        Newline "newline" ["alt-enter", "shift-enter", "ctrl-j"] "new line"
        HistoryPrevious "historyPrevious" ["up"] "earlier message (on the first row)"
        HistoryNext "historyNext" ["down"] "later message (on the last row)"
        HistorySearch "historySearch" ["ctrl-r"] "search earlier messages"
        ExternalEditor "externalEditor" ["ctrl-g"] "write the message in $VISUAL or $EDITOR"
        Complete "complete" ["tab"] "complete a command; else go to the next area"
        Leave "leave" ["esc"] "close what is open, drop the selection"
        QuitWhenEmpty "quitWhenEmpty" ["ctrl-d"] "quit when the message is empty"
    }
    Dialog {
        Approve "approve" ["y"] "run it once"
        ApproveSession "approveSession" ["s"] "run it, and this tool for this session"
        ApproveAlways "approveAlways" ["a"] "run it, and write a rule (asks a second time)"
        EditArguments "editArguments" ["e"] "change the arguments, then be asked again"
        Deny "deny" ["n"] "do not run it"
        DenyNote "denyNote" ["r"] "do not run it, and tell the model why"
        DenyAll "denyAll" ["N"] "deny all that wait"
        Later "later" ["l", "esc"] "decide later; the turn waits"
        Choose "choose" ["enter"] "what has the focus, deny at first; never approves"
        ChooseNext "chooseNext" ["right"] "move the focus right"
        ChoosePrevious "choosePrevious" ["left"] "move the focus left"
        DialogUp "dialogUp" ["up", "k"] "scroll up"
        DialogDown "dialogDown" ["down", "j"] "scroll down"
        DialogPageUp "dialogPageUp" ["pgup"] "a page up"
        DialogPageDown "dialogPageDown" ["pgdn"] "a page down"
        DialogTop "dialogTop" ["home"] "first row"
        DialogBottom "dialogBottom" ["end"] "last row"
        ToDraft "toDraft" ["tab"] "to the message, and back"
    }
    Editor {
        Apply "apply" ["ctrl-s"] "use these arguments"
        Discard "discard" ["esc"] "back without changes"
        EditOutside "editOutside" ["ctrl-g"] "change them in $VISUAL or $EDITOR"
    }
    Form {
        FormSend "formSend" ["ctrl-s"] "send the form, or call the tool"
        FieldNext "fieldNext" ["tab"] "next field"
        FieldPrevious "fieldPrevious" ["shift-tab"] "field before"
        FieldNewline "fieldNewline" ["alt-enter", "ctrl-j"] "new line in a text"
        FormJson "formJson" ["ctrl-t"] "arguments as JSON, and back"
        FieldOut "fieldOut" ["esc"] "from the fields to the answers; from there: later"
        FormAccept "formAccept" ["y"] "agree: send the form, or open the page"
        FormCopy "formCopy" ["u"] "agree, and copy the page's address instead of opening it"
        FormDecline "formDecline" ["n"] "decline: tell the server no"
        FormCancel "formCancel" ["c"] "cancel: close the question without an answer"
        FormLater "formLater" ["l"] "answer later; the server waits"
        FormPageUp "formPageUp" ["pgup"] "a page up"
        FormPageDown "formPageDown" ["pgdn"] "a page down"
    }
    Panel {
        PanelUp "panelUp" ["up"] "one row up"
        PanelDown "panelDown" ["down"] "one row down"
        PanelPageUp "panelPageUp" ["pgup"] "a page up"
        PanelPageDown "panelPageDown" ["pgdn"] "a page down"
        PanelTop "panelTop" ["home"] "first row"
        PanelBottom "panelBottom" ["end"] "last row"
        Details "details" ["enter"] "details of the server or tool"
        Toggle "toggle" ["space"] "switch the server or tool on or off"
        Collapse "collapse" ["left"] "fold the tools of the server"
        Expand "expand" ["right"] "unfold the tools of the server"
        Reconnect "reconnect" ["ctrl-r"] "reconnect the server"
        CallTool "callTool" ["ctrl-t"] "call the tool with arguments of your own"
        PanelLeave "panelLeave" ["esc"] "clear the filter, then back to the message"
        PanelInput "panelInput" ["tab"] "back to the message"
    }
    Page {
        PageClose "pageClose" ["esc", "q"] "close"
        PageUp "pageUp" ["up", "k"] "scroll up"
        PageDown "pageDown" ["down", "j"] "scroll down"
        PageBack "pageBack" ["pgup"] "a page up"
        PageForward "pageForward" ["pgdn", "space"] "a page down"
        PageTop "pageTop" ["home"] "first row"
        PageBottom "pageBottom" ["end"] "last row"
        AcceptPin "acceptPin" ["a"] "accept the changed definition of the tool; allows no call"
    }
    List {
        ListClose "listClose" ["esc"] "close"
        ListUp "listUp" ["up"] "one up"
        ListDown "listDown" ["down"] "one down"
        ListRun "listRun" ["enter"] "do it"
    }
    Wire {
        WireOpen "wireOpen" ["enter"] "request and response in full"
        WireBack "wireBack" ["esc"] "out of the exchange, of the filter, of the view"
        WireUp "wireUp" ["up"] "one row up"
        WireDown "wireDown" ["down"] "one row down"
        WirePageUp "wirePageUp" ["pgup"] "a page up"
        WirePageDown "wirePageDown" ["pgdn"] "a page down"
        WireTop "wireTop" ["home"] "first row"
        WireBottom "wireBottom" ["end"] "last row, and follow from there"
        WirePrevious "wirePrevious" ["left"] "the exchange before"
        WireNext "wireNext" ["right"] "the exchange after"
        WirePart "wirePart" ["tab"] "next part: request, response, each event"
        WirePartBack "wirePartBack" ["shift-tab"] "part before"
        WireCurl "wireCurl" ["ctrl-y"] "copy as a curl command, secrets by their variables"
        WireCall "wireCall" ["ctrl-t"] "copy a tool call as a command of this program"
        WireBody "wireBody" ["ctrl-r"] "copy the body of the response"
        WireExport "wireExport" ["ctrl-e"] "write what is listed to a file (HAR)"
    }
}

impl Action {
    /// Whether the action lets a call run, or agrees to what a server wants.
    pub fn approves(self) -> bool {
        matches!(
            self,
            Self::Approve
                | Self::ApproveSession
                | Self::ApproveAlways
                | Self::FormAccept
                | Self::FormCopy
        )
    }

    /// Whether the command palette offers it: what makes sense from anywhere.
    pub fn in_palette(self) -> bool {
        matches!(
            self,
            Self::Help
                | Self::TogglePanel
                | Self::FocusPanel
                | Self::Decision
                | Self::Warnings
                | Self::ScrollTop
                | Self::ScrollBottom
                | Self::Open
                | Self::Fork
                | Self::Copy
                | Self::Wire
                | Self::Exchange
                | Self::Redraw
                | Self::Suspend
                | Self::HistorySearch
                | Self::ExternalEditor
        )
    }
}
