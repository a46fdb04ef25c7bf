"""What an executable is: its bytes are hostile, so a worker without privileges reads them."""
