//! The elements and texts of a document, in one list without recursion.

use std::ops::Range;

use html5ever::{Attribute, QualName, ns};

/// The number of a node in its tree.
pub(crate) type Id = u32;

/// The number of no node.
pub(crate) const NONE: Id = Id::MAX;
/// The number of the document.
pub(crate) const DOCUMENT: Id = 0;

/// The content of a node.
#[derive(Debug)]
pub(crate) enum Data {
    Document,
    Text(String),
    Element {
        name: QualName,
        attributes: Vec<Attribute>,
        /// The content of a template, which is not part of the document.
        template: Id,
    },
    Other,
}

/// A node with its place among the others.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) data: Data,
    pub(crate) parent: Id,
    pub(crate) first: Id,
    pub(crate) last: Id,
    pub(crate) previous: Id,
    pub(crate) next: Id,
    pub(crate) depth: u32,
    /// The bytes of an element's start tag, or of the token that implies it.
    pub(crate) tag: Range<usize>,
    /// The end of the element in the source, where it is known.
    pub(crate) end: usize,
}

/// A document that was read.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) nodes: Vec<Node>,
    /// The bytes of the head, between its tags; `None` when the source was not read that far.
    pub(crate) head: Option<Range<usize>>,
}

/// A step of a walk through a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Enter(Id),
    Leave(Id),
}

impl Document {
    /// Returns the local name of an HTML element, `svg:` or `math:` for another one, and `annotation` for one
    /// that `MathML` does not show; empty for all other nodes.
    pub(crate) fn name(&self, id: Id) -> &str {
        match &self.nodes[id as usize].data {
            Data::Element { name, .. } if name.ns == ns!(html) => &name.local,
            Data::Element { name, .. } if name.ns == ns!(svg) => "svg:",
            Data::Element { name, .. } if name.local.starts_with("annotation") => "annotation",
            Data::Element { .. } => "math:",
            _ => "",
        }
    }

    pub(crate) fn is_element(&self, id: Id) -> bool {
        matches!(self.nodes[id as usize].data, Data::Element { .. })
    }

    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match &self.nodes[id as usize].data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        let Data::Element { attributes, .. } = &self.nodes[id as usize].data else { return None };
        attributes.iter().find(|attribute| &*attribute.name.local == wanted).map(|found| &*found.value)
    }

    /// Returns the names of an element's attributes.
    pub(crate) fn attribute_names(&self, id: Id) -> Vec<String> {
        match &self.nodes[id as usize].data {
            Data::Element { attributes, .. } => {
                attributes.iter().map(|attribute| attribute.name.local.to_string()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the tags of an element and everything between them.
    pub(crate) fn source(&self, id: Id) -> Range<usize> {
        let node = &self.nodes[id as usize];
        node.tag.start..node.end.max(node.tag.end)
    }

    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        Some(self.nodes[id as usize].parent).filter(|parent| *parent != NONE)
    }

    pub(crate) fn previous(&self, id: Id) -> Option<Id> {
        Some(self.nodes[id as usize].previous).filter(|previous| *previous != NONE)
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let after = |id: &Id| Some(self.nodes[*id as usize].next).filter(|next| *next != NONE);
        std::iter::successors(Some(self.nodes[id as usize].first).filter(|first| *first != NONE), after)
    }

    /// Walks through a node and everything in it, in the order of the document. `visit` returns whether to
    /// enter a node; only nodes that were entered are left.
    pub(crate) fn walk(&self, root: Id, mut visit: impl FnMut(Step) -> bool) {
        let mut at = root;
        loop {
            let entered = visit(Step::Enter(at));
            let first = self.nodes[at as usize].first;
            if entered && first != NONE {
                at = first;
                continue;
            }
            if entered {
                visit(Step::Leave(at));
            }
            loop {
                if at == root {
                    return;
                }
                let node = &self.nodes[at as usize];
                if node.next != NONE {
                    at = node.next;
                    break;
                }
                at = node.parent;
                visit(Step::Leave(at));
            }
        }
    }

    /// Returns all elements in the document, in its order. The content of templates is not among them.
    pub(crate) fn elements(&self) -> Vec<Id> {
        let mut elements = Vec::new();
        self.walk(DOCUMENT, |step| {
            if let Step::Enter(id) = step
                && self.is_element(id)
            {
                elements.push(id);
            }
            true
        });
        elements
    }
}
