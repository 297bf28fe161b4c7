// The part of Solid's types that `<chat-widget>` is added to. The project does not depend on Solid.

// biome-ignore-all lint/correctness/noUnusedVariables: TypeScript finds the members of the namespace by their names
export namespace JSX {
  type Element = unknown;
  interface HTMLAttributes<Host> {
    class?: string;
    ref?: (element: Host) => void;
  }
  interface IntrinsicElements {
    button: HTMLAttributes<HTMLButtonElement>;
  }
}
