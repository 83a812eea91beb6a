"""The guests' part of the reception desk: visits, their QR codes, and the forms that issue and change them."""
