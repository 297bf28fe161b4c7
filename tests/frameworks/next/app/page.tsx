export default function Page() {
  return (
    <main>
      <h1>Pots</h1>
    </main>
  );
}
