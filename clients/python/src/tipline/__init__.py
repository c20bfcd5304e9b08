"""Client of Tipline, a self-hosted threat-intelligence service. Standard library only."""

from ._transport import Cache
from .client import Tipline
from .download import Download
from .errors import TiplineError
from .operations import VERSION

__all__ = ["VERSION", "Cache", "Download", "Tipline", "TiplineError"]
__version__ = VERSION
