// Whether the service can be reached; the banner at the top shows it.
class Connection {
  lost = $state(false);
}

export const connection = new Connection();
