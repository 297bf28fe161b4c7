// A visitor's profile. It uses no type of the DOM, so that servers can use it as well.

/** The site's data about the visitor. Every field is optional. */
export interface VisitorProfile {
  visitorId?: string;
  name?: string;
  email?: string;
  phone?: string;
  company?: string;
  wechat?: string;
  whatsapp?: string;
  country?: string;
}
