"""What servers by HTTP for clients of this machine share: where they listen, whom they hear."""
