export default function Home() {
  return <h1>Pots</h1>;
}
