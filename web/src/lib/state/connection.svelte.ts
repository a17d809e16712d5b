// Whether the service is reachable; shown in the banner at the top.
class Connection {
  lost = $state(false);
}

export const connection = new Connection();
