import { Links, Meta, Outlet, Scripts, ScrollRestoration } from "react-router";
import { Help } from "./Help";

export default function Root() {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <link rel="icon" href="data:," />
        <Meta />
        <Links />
      </head>
      <body>
        <Outlet />
        <Help />
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  );
}
