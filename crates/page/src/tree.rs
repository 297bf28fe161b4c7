//! Builds the tree of a document for html5ever: a list of nodes, without recursion.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::ops::Range;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};

use crate::document::{DOCUMENT, Data, Document, Id, NONE, Node};

/// A tree under construction.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: RefCell<Vec<Node>>,
    /// The bytes of the token that is processed.
    token: RefCell<Range<usize>>,
    /// The name of the start tag, and of the end tag, that is processed.
    opening: RefCell<Option<LocalName>>,
    closing: RefCell<Option<LocalName>>,
    /// The depth at which the next element would be inserted.
    depth: Cell<u32>,
    head: Cell<Id>,
    head_begin: Cell<usize>,
    head_end: Cell<Option<usize>>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let tree = Self {
            nodes: RefCell::default(),
            token: RefCell::new(0..0),
            opening: RefCell::default(),
            closing: RefCell::default(),
            depth: Cell::new(0),
            head: Cell::new(NONE),
            head_begin: Cell::new(0),
            head_end: Cell::new(None),
        };
        tree.add(Data::Document);
        tree
    }

    /// Sets the bytes of the token that is processed next, with the name of the tag that it opens or closes.
    pub(crate) fn set_token(
        &self,
        token: Range<usize>,
        opening: Option<LocalName>,
        closing: Option<LocalName>,
    ) {
        self.token.replace(token);
        self.opening.replace(opening);
        self.closing.replace(closing);
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// Returns about how many elements are open, as far as their number is known from the last insertion.
    pub(crate) fn open_depth(&self) -> u32 {
        self.depth.get()
    }

    /// Returns where the head begins in the source, and where a browser ends it: before the token that
    /// belongs into the body.
    pub(crate) fn head_bounds(&self) -> Option<Range<usize>> {
        self.head_end.get().map(|end| self.head_begin.get().min(end)..end)
    }

    fn add(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        let id = Id::try_from(nodes.len()).unwrap_or(NONE);
        let tag = self.token.borrow().clone();
        nodes.push(Node {
            data,
            parent: NONE,
            first: NONE,
            last: NONE,
            previous: NONE,
            next: NONE,
            depth: 0,
            end: tag.end,
            tag,
        });
        id
    }

    /// Inserts a node, or appends text to the one before it.
    fn insert(&self, parent: Id, before: Id, child: NodeOrText<Id>) {
        let depth = self.nodes.borrow()[parent as usize].depth + 1;
        let child = match child {
            NodeOrText::AppendNode(child) => {
                self.detach(child);
                child
            }
            NodeOrText::AppendText(text) => {
                if self.extend_text(parent, before, &text) {
                    self.depth.set(depth);
                    return;
                }
                self.add(Data::Text(text.to_string()))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        let previous =
            if before == NONE { nodes[parent as usize].last } else { nodes[before as usize].previous };
        let node = &mut nodes[child as usize];
        (node.parent, node.previous, node.next, node.depth) = (parent, previous, before, depth);
        self.depth.set(if matches!(node.data, Data::Element { .. }) { depth + 1 } else { depth });
        if previous == NONE {
            nodes[parent as usize].first = child;
        } else {
            nodes[previous as usize].next = child;
        }
        if before == NONE {
            nodes[parent as usize].last = child;
        } else {
            nodes[before as usize].previous = child;
        }
    }

    /// Appends text to the text at this place. Returns whether there is any.
    fn extend_text(&self, parent: Id, before: Id, text: &str) -> bool {
        let mut nodes = self.nodes.borrow_mut();
        let previous =
            if before == NONE { nodes[parent as usize].last } else { nodes[before as usize].previous };
        match nodes.get_mut(previous as usize).map(|node| &mut node.data) {
            Some(Data::Text(content)) => {
                content.push_str(text);
                true
            }
            _ => false,
        }
    }

    fn detach(&self, id: Id) {
        let mut nodes = self.nodes.borrow_mut();
        let node = &mut nodes[id as usize];
        let (parent, previous, next) = (node.parent, node.previous, node.next);
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
        if previous != NONE {
            nodes[previous as usize].next = next;
        } else if parent != NONE {
            nodes[parent as usize].first = next;
        }
        if next != NONE {
            nodes[next as usize].previous = previous;
        } else if parent != NONE {
            nodes[parent as usize].last = previous;
        }
    }

    /// Ends the construction.
    pub(crate) fn into_document(self) -> Document {
        let head = self.head_bounds();
        Document { nodes: self.nodes.into_inner(), head }
    }
}

impl TreeSink for Tree {
    type Handle = Id;
    type Output = Self;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Ref<'a, QualName> {
        Ref::map(self.nodes.borrow(), |nodes| match &nodes[*target as usize].data {
            Data::Element { name, .. } => name,
            _ => unreachable!("html5ever asks for the names of elements only"),
        })
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Id {
        let template = if flags.template { self.add(Data::Document) } else { NONE };
        let is_head = name.ns == ns!(html) && name.local == local_name!("head");
        let id = self.add(Data::Element { name, attributes, template });
        if is_head && self.head.get() == NONE {
            self.head.set(id);
            let is_tag = self.opening.borrow().as_ref() == Some(&local_name!("head"));
            let token = self.token.borrow();
            self.head_begin.set(if is_tag { token.end } else { token.start });
        }
        id
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.insert(*parent, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        let parent = self.nodes.borrow()[*element as usize].parent;
        if parent == NONE { self.append(previous, child) } else { self.insert(parent, *element, child) }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &Id) {
        let token = self.token.borrow();
        let mut nodes = self.nodes.borrow_mut();
        let node_ref = &mut nodes[*node as usize];
        let Data::Element { name, .. } = &node_ref.data else { return };
        let is_closed = self.closing.borrow().as_ref() == Some(&name.local);
        node_ref.end = if is_closed { token.end } else { token.start };
        if *node == self.head.get() && self.head_end.get().is_none() {
            self.head_end.set(Some(token.start));
        }
    }

    fn get_template_contents(&self, target: &Id) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[*target as usize].depth;
        let Data::Element { template, .. } = nodes[*target as usize].data else { return *target };
        nodes[template as usize].depth = depth;
        template
    }

    fn same_node(&self, one: &Id, other: &Id) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.insert(parent, *sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, missing: Vec<Attribute>) {
        let mut nodes = self.nodes.borrow_mut();
        let Data::Element { attributes, .. } = &mut nodes[*target as usize].data else { return };
        for attribute in missing {
            if !attributes.iter().any(|known| known.name == attribute.name) {
                attributes.push(attribute);
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        loop {
            let child = self.nodes.borrow()[*node as usize].first;
            if child == NONE {
                return;
            }
            self.insert(*new_parent, NONE, NodeOrText::AppendNode(child));
        }
    }
}
